#include <pthread.h>
#include <stdlib.h>

DECLARED
static unsigned threads;

static void *call(void *caller) {
    return CALLED ? caller : NULL;
}

int main(int argc, char **argv) {
    int failed = 0, callers[CALLERS];
    pthread_t started[CALLERS];
    threads = argc > 1 ? (unsigned)atoi(argv[1]) : 1;
    for (int i = 0; i < CALLERS; i++) {
        callers[i] = i;
        if (pthread_create(&started[i], NULL, call, &callers[i])) return 1;
    }
    for (int i = 0; i < CALLERS; i++) {
        void *result;
        pthread_join(started[i], &result);
        failed |= result != NULL;
    }
    return failed;
}
