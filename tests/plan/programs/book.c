// The program of the quickstart.
//
// source: examples/quickstart/book.c
// load: load
// save: save
// file: book.txt
// data: ann 1
// data: bob 2
// command: set carl 3
// command: set ann 10
// command: get ann
// command: set dora 4
// ask: get ann
// ask: get bob
// ask: get carl
// ask: get dora
