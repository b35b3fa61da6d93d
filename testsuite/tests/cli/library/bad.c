/* Calls that must be refused, each with its code. */
#include <stdio.h>
#include <stdlib.h>

#include "model.h"

static int check(const char *what, int found, int expected) {
    if (found == expected) {
        return 0;
    }
    fprintf(stderr, "%s: code %d, expected %d\n", what, found, expected);
    return 1;
}

int main(void) {
    size_t bytes = MODEL_ARENA_BYTES + MODEL_INPUT_input_BYTES + MODEL_OUTPUT_output_BYTES + 1024;
    char *memory = aligned_alloc(64, bytes / 64 * 64);
    char *arena = memory;
    float *in = (float *)(memory + MODEL_ARENA_BYTES);
    float *out = (float *)(memory + MODEL_ARENA_BYTES + (MODEL_INPUT_input_BYTES + 63) / 64 * 64);
    for (size_t i = 0; i < MODEL_INPUT_input_ELEMENTS; i++) {
        in[i] = 0.5f;
    }
    model_inputs inputs = {in}, none_in = {NULL}, skew_in = {(float *)((char *)in + 1)};
    model_outputs outputs = {out}, none_out = {NULL}, skew_out = {(float *)((char *)out + 2)};
    int bad = 0;
    bad |= check("good", model_run(&inputs, &outputs, arena), MODEL_OK);
    bad |= check("no inputs", model_run(NULL, &outputs, arena), MODEL_NULL);
    bad |= check("no outputs", model_run(&inputs, NULL, arena), MODEL_NULL);
    bad |= check("no arena", model_run(&inputs, &outputs, NULL), MODEL_NULL);
    bad |= check("null input", model_run(&none_in, &outputs, arena), MODEL_NULL);
    bad |= check("null output", model_run(&inputs, &none_out, arena), MODEL_NULL);
    bad |= check("skew arena", model_run(&inputs, &outputs, arena + 8), MODEL_UNALIGNED);
    bad |= check("skew input", model_run(&skew_in, &outputs, arena), MODEL_UNALIGNED);
    bad |= check("skew output", model_run(&inputs, &skew_out, arena), MODEL_UNALIGNED);
    bad |= check("no context", model_run_mt(NULL, &inputs, &outputs), MODEL_NULL);
    model_context *context = model_create(2);
    bad |= check("null input, context", model_run_mt(context, &none_in, &outputs), MODEL_NULL);
    bad |= check("good, context", model_run_mt(context, &inputs, &outputs), MODEL_OK);
    model_destroy(context);
    model_destroy(NULL);
    free(memory);
    return bad;
}
