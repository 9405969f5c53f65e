/* SPDX-License-Identifier: GPL-2.0 */
/* The commands; each returns an exit code. */
#ifndef RNBDADM_CMD_COMMANDS_H
#define RNBDADM_CMD_COMMANDS_H

#include "app/app.h"

struct complete;

extern const struct grammar rnbdadm_grammar;

int cmd_show(struct ctx *ctx);
int cmd_session_list(struct ctx *ctx);
int cmd_session_show(struct ctx *ctx);
int cmd_path_list(struct ctx *ctx);
int cmd_path_show(struct ctx *ctx);
int cmd_device_list(struct ctx *ctx);
int cmd_device_show(struct ctx *ctx);
int cmd_map(struct ctx *ctx);
int cmd_unmap(struct ctx *ctx);
int cmd_remap(struct ctx *ctx);
int cmd_resize(struct ctx *ctx);
int cmd_device_wait(struct ctx *ctx);
int cmd_device_set(struct ctx *ctx);
int cmd_session_set(struct ctx *ctx);
int cmd_session_add(struct ctx *ctx);
int cmd_session_remove(struct ctx *ctx);
int cmd_path_add(struct ctx *ctx);
int cmd_path_remove(struct ctx *ctx);
int cmd_path_reconnect(struct ctx *ctx);
int cmd_path_disconnect(struct ctx *ctx);
int cmd_monitor(struct ctx *ctx);
int cmd_wait(struct ctx *ctx);
int cmd_recover(struct ctx *ctx);
int cmd_export_list(struct ctx *ctx);
int cmd_export_show(struct ctx *ctx);
int cmd_export_close(struct ctx *ctx);
int cmd_export_revalidate(struct ctx *ctx);
int cmd_access_add(struct ctx *ctx);
int cmd_access_remove(struct ctx *ctx);
int cmd_access_show(struct ctx *ctx);
int cmd_access_diff(struct ctx *ctx);
int cmd_access_test(struct ctx *ctx);
int cmd_access_set(struct ctx *ctx);
int cmd_client_list(struct ctx *ctx);
int cmd_client_show(struct ctx *ctx);
int cmd_client_disconnect(struct ctx *ctx);
int cmd_check(struct ctx *ctx);
int cmd_server_path_list(struct ctx *ctx);
int cmd_server_path_show(struct ctx *ctx);
int cmd_server_path_disconnect(struct ctx *ctx);
int cmd_port_list(struct ctx *ctx);
int cmd_port_drain(struct ctx *ctx);
int cmd_port_undrain(struct ctx *ctx);
int cmd_status(struct ctx *ctx);
int cmd_stats(struct ctx *ctx);
int cmd_stats_latency(struct ctx *ctx);
int cmd_stats_reset(struct ctx *ctx);
int cmd_config_save(struct ctx *ctx);
int cmd_config_show(struct ctx *ctx);
int cmd_config_validate(struct ctx *ctx);
int cmd_config_diff(struct ctx *ctx);
int cmd_config_apply(struct ctx *ctx);
int cmd_config_edit_hints(struct ctx *ctx);
int cmd_udev(struct ctx *ctx);
int cmd_version(struct ctx *ctx);
int cmd_help(struct ctx *ctx);
int cmd_metadata(struct ctx *ctx);
int cmd_schema(struct ctx *ctx);
int cmd_completion(struct ctx *ctx);
int cmd_complete(struct ctx *ctx);

/* What struct cmd has as check; some serve several commands. */
int cmd_session_set_check(struct ctx *ctx);
int cmd_session_add_check(struct ctx *ctx);
int cmd_path_add_check(struct ctx *ctx);
int cmd_path_named_check(struct ctx *ctx);
int cmd_path_reconnect_check(struct ctx *ctx);
int cmd_path_disconnect_check(struct ctx *ctx);
int cmd_recover_check(struct ctx *ctx);
int cmd_path_show_check(struct ctx *ctx);
int cmd_map_check(struct ctx *ctx);
int cmd_unmap_check(struct ctx *ctx);
int cmd_remap_check(struct ctx *ctx);
int cmd_resize_check(struct ctx *ctx);
int cmd_device_check(struct ctx *ctx);
int cmd_device_set_check(struct ctx *ctx);
int cmd_export_close_check(struct ctx *ctx);
int cmd_access_add_check(struct ctx *ctx);
int cmd_access_test_check(struct ctx *ctx);
int cmd_export_revalidate_check(struct ctx *ctx);
int cmd_stats_check(struct ctx *ctx);
int cmd_stats_latency_check(struct ctx *ctx);
int cmd_stats_reset_check(struct ctx *ctx);
int cmd_wait_check(struct ctx *ctx);
int cmd_config_only_check(struct ctx *ctx);
int cmd_check_check(struct ctx *ctx);
int cmd_help_check(struct ctx *ctx);

/* The views that some options choose. */
const struct view *cmd_stats_view(const struct ctx *ctx);

/* What an argument of that name may be. */
void complete_argument(struct complete *c, const char *what);

/* "help checks": every check in a line. To be freed. */
char *check_list_text(void);
/* The same with causes and cures. */
json_t *js_checks(void);
/* Words that check takes. */
void check_names(struct strlist *l);

#endif
