/*
 * Counts the bytes a process has allocated, exactly as asked for, and their high-water mark. For LD_PRELOAD.
 *
 * Counted are malloc, calloc, realloc, free, memalign, posix_memalign, aligned_alloc, valloc and pvalloc, and the
 * anonymous mappings that libraries make themselves (mmap, munmap; whole mappings only). Not counted are what the
 * C library maps for itself (it is counted as the blocks it hands out), thread stacks, files, and what the kernel keeps.
 *
 * Each block is preceded by a header with its base and size; the blocks themselves come from glibc's own allocator.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stddef.h>
#include <string.h>
#include <sys/mman.h>

extern void *__libc_malloc(size_t);
extern void __libc_free(void *);

typedef struct header {
    void *base;
    size_t size;
} header;

static _Atomic int64_t live;
static _Atomic int64_t high;

/* What the reader calls: bytes allocated now, the most since the last reset, and the reset. */
int64_t memory_shim_live(void) { return atomic_load(&live); }
int64_t memory_shim_high(void) { return atomic_load(&high); }
void memory_shim_reset(void) { atomic_store(&high, atomic_load(&live)); }

static void count(int64_t bytes) {
    int64_t now = atomic_fetch_add(&live, bytes) + bytes;
    int64_t most = atomic_load(&high);
    while (now > most && !atomic_compare_exchange_weak(&high, &most, now)) {
    }
}

static header *header_of(void *block) { return (header *)block - 1; }

static void *allocate(size_t size, size_t align) {
    if (align < _Alignof(max_align_t)) {
        align = _Alignof(max_align_t);
    }
    size_t more = sizeof(header) + align;
    if (size > SIZE_MAX - more) {
        errno = ENOMEM;
        return NULL;
    }
    void *base = __libc_malloc(size + more);
    if (base == NULL) {
        return NULL;
    }
    uintptr_t at = ((uintptr_t)base + sizeof(header) + align - 1) / align * align;
    *header_of((void *)at) = (header){base, size};
    count((int64_t)size);
    return (void *)at;
}

void *malloc(size_t size) { return allocate(size, 0); }

void free(void *block) {
    if (block == NULL) {
        return;
    }
    header h = *header_of(block);
    count(-(int64_t)h.size);
    __libc_free(h.base);
}

void *calloc(size_t n, size_t size) {
    size_t bytes;
    if (__builtin_mul_overflow(n, size, &bytes)) {
        errno = ENOMEM;
        return NULL;
    }
    void *block = allocate(bytes, 0);
    return block == NULL ? NULL : memset(block, 0, bytes);
}

/* While a block moves both are there, as they are for any allocator that cannot grow it where it lies. */
void *realloc(void *block, size_t size) {
    if (block == NULL) {
        return allocate(size, 0);
    }
    if (size == 0) {
        free(block);
        return NULL;
    }
    size_t old = header_of(block)->size;
    void *moved = allocate(size, 0);
    if (moved != NULL) {
        memcpy(moved, block, old < size ? old : size);
        free(block);
    }
    return moved;
}

void *memalign(size_t align, size_t size) { return allocate(size, align); }
void *aligned_alloc(size_t align, size_t size) { return allocate(size, align); }
void *valloc(size_t size) { return allocate(size, 4096); }
void *pvalloc(size_t size) { return allocate((size + 4095) / 4096 * 4096, 4096); }
size_t malloc_usable_size(void *block) { return block == NULL ? 0 : header_of(block)->size; }

int posix_memalign(void **block, size_t align, size_t size) {
    void *made = allocate(size, align);
    if (made == NULL) {
        return ENOMEM;
    }
    *block = made;
    return 0;
}

#define MAPPINGS 4096
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct {
    void *start;
    size_t size;
} mappings[MAPPINGS];

/* Forgets the mapping that starts there, if it is known, and notes another. */
static void note(void *gone, void *start, size_t size) {
    pthread_mutex_lock(&lock);
    for (int i = 0; gone != NULL && i < MAPPINGS; i++) {
        if (mappings[i].start == gone) {
            count(-(int64_t)mappings[i].size);
            mappings[i].start = NULL;
            break;
        }
    }
    for (int i = 0; start != NULL && i < MAPPINGS; i++) {
        if (mappings[i].start == NULL) {
            mappings[i].start = start;
            mappings[i].size = size;
            count((int64_t)size);
            break;
        }
    }
    pthread_mutex_unlock(&lock);
}

void *mmap(void *address, size_t size, int protection, int flags, int file, off_t offset) {
    static void *(*next)(void *, size_t, int, int, int, off_t);
    if (next == NULL) {
        next = (void *(*)(void *, size_t, int, int, int, off_t))dlsym(RTLD_NEXT, "mmap");
    }
    void *start = next(address, size, protection, flags, file, offset);
    /* Address space that is only reserved, and a part of a mapping made anew, take no memory. */
    if (start != MAP_FAILED && (flags & MAP_ANONYMOUS) && !(flags & MAP_FIXED) && protection != PROT_NONE) {
        note(NULL, start, size);
    }
    return start;
}

void *mmap64(void *address, size_t size, int protection, int flags, int file, off_t offset) {
    return mmap(address, size, protection, flags, file, offset);
}

int munmap(void *start, size_t size) {
    static int (*next)(void *, size_t);
    if (next == NULL) {
        next = (int (*)(void *, size_t))dlsym(RTLD_NEXT, "munmap");
    }
    /* Before the addresses can be given to somebody else. */
    note(start, NULL, 0);
    return next(start, size);
}
