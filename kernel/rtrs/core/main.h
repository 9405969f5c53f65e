/* SPDX-License-Identifier: GPL-2.0 */
/* What the files of rtrs-core have of each other. */
#ifndef RTRS_CORE_MAIN_H
#define RTRS_CORE_MAIN_H

void rtrs_census_init(void);
void rtrs_census_exit(void);

int rtrs_hb_wq_init(void);
void rtrs_hb_wq_exit(void);

int rtrs_aside_wq_init(void);
void rtrs_aside_wq_exit(void);

int rtrs_nl_init(void);
void rtrs_nl_exit(void);

#endif /* RTRS_CORE_MAIN_H */
