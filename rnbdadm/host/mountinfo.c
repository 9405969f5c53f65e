// SPDX-License-Identifier: GPL-2.0
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "host/mountinfo.h"

void proc_unescape(char *s)
{
	char *o = s;

	for (; *s; s++) {
		if (s[0] == '\\' && s[1] >= '0' && s[1] <= '3' && s[2] >= '0' && s[2] <= '7' &&
		    s[3] >= '0' && s[3] <= '7') {
			*o++ = (char)((s[1] - '0') << 6 | (s[2] - '0') << 3 | (s[3] - '0'));
			s += 3;
		} else {
			*o++ = *s;
		}
	}
	*o = '\0';
}

/* ID PARENT MAJ:MIN ROOT WHERE OPTIONS [TAGS...] - TYPE SOURCE OPTIONS */
bool mount_parse(char *line, struct mount *m)
{
	char *save = NULL, *field[6], *dash, *type, *source;
	int i;

	dash = strstr(line, " - ");
	if (!dash)
		return false;
	*dash = '\0';
	for (i = 0; i < 6; i++) {
		field[i] = strtok_r(i ? NULL : line, " ", &save);
		if (!field[i])
			return false;
	}
	type = strtok_r(dash + 3, " ", &save);
	source = type ? strtok_r(NULL, " ", &save) : NULL;
	if (sscanf(field[2], "%" SCNu64 ":%" SCNu64, &m->major, &m->minor) != 2)
		return false;
	m->where = xstrdup(field[4]);
	m->type = xstrdup(type ? type : "");
	m->source = xstrdup(source ? source : "");
	proc_unescape(m->where);
	proc_unescape(m->source);
	return true;
}

void mount_free(struct mount *m)
{
	free(m->where);
	free(m->type);
	free(m->source);
}
