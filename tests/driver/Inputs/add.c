int add(int *p) { return ++*p; }
