/* SPDX-License-Identifier: GPL-2.0 */
/* Settings of a session as options of a command line. */
#ifndef RNBDADM_GRAMMAR_SETTINGS_H
#define RNBDADM_GRAMMAR_SETTINGS_H

#include "base/failure.h"
#include "grammar/parse.h"
#include "model/objects.h"

/*
 * What the options ask for, --mp-policy not included; what they do not speak of is unknown.
 * XC_OK, or XC_USAGE with @f filled.
 */
int settings_parse(const struct parsed *a, struct session_settings *want, struct fail *f);
/* "infinite" or -1 to 9999; false for a larger number. */
bool max_reconnect_parse(const char *s, int64_t *v);
/*
 * A value that has passed opt_problem(): NULL, or what is wrong with it all the same, to be
 * freed.
 */
char *setting_parse(enum m_setting i, const char *dashes, const char *text, int64_t *v);
/* The reverse, to be freed. */
char *setting_text(enum m_setting i, int64_t v);
enum opt_id setting_opt(enum m_setting i);
/* What a session has that was told nothing. */
int64_t setting_default(enum m_setting i);
bool settings_any(const struct session_settings *s);
/* The options that ask for @want again. */
void settings_words(struct strlist *w, const struct session_settings *want);

#endif
