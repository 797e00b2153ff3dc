# each-method.sh CRASH PROGRAM POOL ARGUMENT...: nvmove crash, which finds something, with each method.
crash=$1 program=$2 pool=$3
shift 3
for method in undo shadow lat latb; do
  rm -f "$pool"
  $crash --method=$method -- "$program" "$pool" "$@"
  [ $? = 1 ] || echo "nothing found with $method"
done
