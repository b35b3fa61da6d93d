/* Runs a model compiled into a library of its own: an image in, the best class out. docs/c-library.md makes the library. */
#include <stdio.h>
#include <stdlib.h>

#include "model.h"

static void *allocate(size_t bytes) {
    /* aligned_alloc takes a multiple of the alignment; no size is zero here. */
    size_t align = MODEL_ARENA_ALIGN;
    void *memory = aligned_alloc(align, (bytes + align) / align * align);
    if (memory == NULL) {
        fprintf(stderr, "no memory\n");
        exit(1);
    }
    return memory;
}

static size_t best(const float *scores) {
    size_t found = 0;
    for (size_t i = 1; i < MODEL_OUTPUT_output_ELEMENTS; i++) {
        if (scores[i] > scores[found]) {
            found = i;
        }
    }
    return found;
}

int main(void) {
    float *image = allocate(MODEL_INPUT_input_BYTES);
    float *scores = allocate(MODEL_OUTPUT_output_BYTES);
    for (size_t i = 0; i < MODEL_INPUT_input_ELEMENTS; i++) {
        image[i] = (float)(i % 255) / 255.0f;
    }
    model_inputs inputs = {image};
    model_outputs outputs = {scores};

    /* On this thread, in memory that the caller owns. */
    void *arena = allocate(MODEL_ARENA_BYTES);
    int code = model_run(&inputs, &outputs, arena);
    if (code != MODEL_OK) {
        fprintf(stderr, "model_run: error %d\n", code);
        return 1;
    }
    printf("arena: %zu bytes\n", MODEL_ARENA_BYTES);
    printf("class %zu, score %g\n", best(scores), (double)scores[best(scores)]);

    /* On two threads, in memory of the context. */
    model_context *context = model_create(2);
    if (context == NULL) {
        fprintf(stderr, "model_create: no memory or no threads\n");
        return 1;
    }
    code = model_run_mt(context, &inputs, &outputs);
    model_destroy(context);
    if (code != MODEL_OK) {
        fprintf(stderr, "model_run_mt: error %d\n", code);
        return 1;
    }
    printf("class %zu, score %g\n", best(scores), (double)scores[best(scores)]);
    free(arena);
    free(scores);
    free(image);
    return 0;
}
