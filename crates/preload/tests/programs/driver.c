/* A driver that a program can unload, which the software driver's library is not. */
int cuMemAlloc_v2(unsigned long long *at, unsigned long bytes) { return at && bytes ? 2 : 1; }
