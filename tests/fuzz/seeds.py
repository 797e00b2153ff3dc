"""Inputs for pool.c that put edge values into each field of a pool file.

Coverage alone keeps one input for each branch; of `a || b` in one branch that is one of them. So the corpus
is what reached something new, and these are what a careful reader would try.
"""
import struct

IMAGES = 10
HEADER, FRAME, SEGMENT, CHUNK, FIXED = 1, 2, 3, 4, 6  # enum part
WORD_MAX = (1 << 64) - 1
# Field offset -> values. The values of FRAME's last word: kind | operations << 8 | length << 32.
FRAME_FIELDS = {
    8: (1 << 16, 5 << 16, WORD_MAX),
    16: (0, 1, 1 << 63),
    24: (0, 0x3000, 0x10000, 1 << 40, WORD_MAX - 7),
    32: (1 | 8 << 32, 3 | 1 << 8 | 8 << 32, 2 | 3 << 8 | 64 << 32, 4 | 16 << 32, 5, 1 | 1 << 63,
         3 | 0xffffff << 8 | 8 << 32)}
SEGMENT_FIELDS = {8: (0, 0x10000, 0x90000, 1 << 50), 16: (0, 64), 24: (64, 1 << 14, 1 << 40),
                  32: (1, 1 << 32), 40: (1,)}
FIXED_VALUES = (0, 1, 0x50000, 1 << 60)
HEADER_VALUES = (0, 1, 1 << 14, 1 << 30, 1 << 47, WORD_MAX)
HEADER_BYTES = 184
COUNTS = (0, 1, 2, 64, 0xffff, 1 << 31, 0xffffffff)


def change(part, offset, place, value):
    return bytes([part, 7, offset, place & 255, place >> 8]) + struct.pack("<Q", value)


def fields(part, place, table):
    return [change(part, offset, place, value) for offset, values in table.items() for value in values]


def of_image(image):
    changes = []
    for number, count in enumerate(COUNTS):
        for kind in range(6):
            word = kind | (0, 3, 255)[(image + kind) % 3] << 8 | (0, 600)[number % 2] << 16 | count << 32
            changes += [change(CHUNK, 0, index, word) for index in (number, 11 * number % 61 + kind)]
    for frame in range(image, 40, 9):
        changes += fields(FRAME, frame, FRAME_FIELDS)
    for segment in range(2):
        changes += fields(SEGMENT, segment, SEGMENT_FIELDS)
    for offset in range(8 * (image % 2), HEADER_BYTES, 16):
        changes += [change(HEADER, offset, 0, value) + change(HEADER, offset, 1, value)
                    for value in HEADER_VALUES]
    for place in range(4):
        changes += [change(FIXED, offset, place, value) for offset in (0, 8) for value in FIXED_VALUES]
    return [bytes([image]) + each for each in changes]


def all_seeds():
    return [seed for image in range(IMAGES) for seed in of_image(image)]
