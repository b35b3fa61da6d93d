#include <stdio.h>
#include <stdlib.h>

static int fail(const char *what) {
    fprintf(stderr, "%s\n", what);
    return 1;
}

static void *memory(size_t bytes) {
    void *start = aligned_alloc(64, bytes / 64 * 64 + 64);
    if (!start) abort();
    return start;
}

static void *load(const char *name, size_t bytes) {
    void *start = memory(bytes);
    FILE *file = fopen(name, "rb");
    if (!file || fread(start, 1, bytes, file) != bytes) abort();
    fclose(file);
    return start;
}

static int save(const char *name, int caller, const void *start, size_t bytes) {
    char path[200];
    snprintf(path, sizeof path, "%s.%d", name, caller);
    FILE *file = fopen(path, "wb");
    return !file || fwrite(start, 1, bytes, file) != bytes || fclose(file);
}
