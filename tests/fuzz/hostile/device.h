/* SPDX-License-Identifier: GPL-2.0 */
/* Devices over a path: proper OPEN, CLOSE and IO, on slot 0. */
#ifndef HOSTILE_DEVICE_H
#define HOSTILE_DEVICE_H

#include "peer.h"

int device_open(struct path *p, const char *name, uint8_t access_mode, uint32_t *id);
/* For writing, as soon as nobody else has it so */
int device_open_free(struct path *p, const char *name, uint32_t *id);
int device_close(struct path *p, uint32_t id);

/* @data_len: bytes at @data (write), or of the result (read) */
int device_io(struct path *p, const struct rnbd_io *io, bool read, const void *data,
	      uint32_t data_len);

#endif /* HOSTILE_DEVICE_H */
