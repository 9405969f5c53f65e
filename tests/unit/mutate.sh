#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Can the unit tests fail? Breaks a copy of the sources in one place at a time and demands that the program which tests that
# place fails, and that it builds: a mutation that does not compile shows nothing. Prints TAP.
#
#   mutate.sh [REGEX]    all mutations, or those whose line matches

cd "$(dirname "${BASH_SOURCE[0]}")" || exit
top=$(cd ../.. && pwd)

# program, file, sed expression
mutations() {
	cat <<-'END'
		layout        include/rtrs/proto.h  s/__u8	reserved\[11\]/__u8	reserved[12]/
		layout        include/rtrs/proto.h  s/__le16	cid_num;/__le32	cid_num;/
		layout        include/rtrs/proto.h  s/RTRS_IMM_HB_ACK		= 9/RTRS_IMM_HB_ACK		= 10/
		layout        include/rtrs/proto.h  s/0x1bbd/0x1bbe/
		layout        include/rnbd/proto.h  s/__u8	padding\[6\]/__u8	padding[2]/
		layout        include/rnbd/proto.h  s/RNBD_F_NOUNMAP		0x800/RNBD_F_NOUNMAP		0x1000/
		layout        include/rnbd/proto.h  s/b\[1\] = v >> 8/b[1] = v >> 7/
		rtrs-conn     include/rtrs/proto.h  s/cid_num > RTRS_CONS_MAX/cid_num >= RTRS_CONS_MAX/
		rtrs-conn     include/rtrs/proto.h  s/out->cid >= out->cid_num/out->cid > out->cid_num/
		rtrs-conn     include/rtrs/proto.h  s/m->first_conn & 1/m->first_conn != 0/
		rtrs-conn     include/rtrs/proto.h  s/err >= -4095/err > -4095/
		rtrs-conn     include/rtrs/proto.h  /rtrs_accept_parse/,/^}/s/len < sizeof/len < 4 + 0 * sizeof/
		rtrs-conn     include/rtrs/proto.h  /rtrs_conn_rsp_pack/,/^}/s/if (r->err)/if (r->err > 0)/
		rtrs-conn     include/rtrs/proto.h  /rtrs_conn_req_pack/,/^}/s/__builtin_memset(m, 0,/__builtin_memset(m, 1,/
		rtrs-imm      include/rtrs/proto.h  s/RTRS_IMM_ERRNO_MAX	511/RTRS_IMM_ERRNO_MAX	512/
		rtrs-imm      include/rtrs/proto.h  s/\*off < g->chunk_size/*off <= g->chunk_size/
		rtrs-imm      include/rtrs/proto.h  s/\*slot < g->queue_depth \&\&/*slot <= g->queue_depth \&\&/
		rtrs-imm      include/rtrs/proto.h  s/clz(n - 1)/clz(n)/
		rtrs-imm      include/rtrs/proto.h  s/max_hdr_size < RTRS_READ_HDR_MAX/max_hdr_size <= RTRS_READ_HDR_MAX/
		rtrs-info     include/rtrs/proto.h  s/d.addr + d.len < d.addr/0/
		rtrs-info     include/rtrs/proto.h  s/!d.len || d.len % g->chunk_size/d.len % g->chunk_size/
		rtrs-info     include/rtrs/proto.h  s/if (n == g->queue_depth)/if (n > g->queue_depth)/
		rtrs-info     include/rtrs/proto.h  s/len > RTRS_WIRE_NAME_LEN - 1/len > RTRS_WIRE_NAME_LEN/
		rtrs-info     include/rtrs/proto.h  s/ || len < rtrs_info_rsp_size(regions)//
		rtrs-request  include/rtrs/proto.h  s/out->usr_len > off ||//
		rtrs-request  include/rtrs/proto.h  s/out->desc.len > out->data_len/out->desc.len > off/
		rtrs-request  include/rtrs/proto.h  s/sg_cnt > 1 || len < sizeof/sg_cnt > 2 || len < sizeof/
		rtrs-request  include/rtrs/proto.h  s/__builtin_memset(out, 0, sizeof(\*out));/;/
		rtrs-request  include/rtrs/proto.h  s/->buf_id) != slot/->buf_id) != (slot \& 0xffff)/
		rnbd-msg      include/rnbd/proto.h  s/n == RNBD_PATH_LEN || m->access_mode/m->access_mode/
		rnbd-msg      include/rnbd/proto.h  s/nsectors >= RNBD_SECTORS_MAX/nsectors > RNBD_SECTORS_MAX/
		rnbd-msg      include/rnbd/proto.h  s/ > 65535 ? 65535 : d->max_segments//
		rnbd-msg      include/rnbd/proto.h  s/logical_block_size < 512/logical_block_size < 256/
		rnbd-io       include/rnbd/proto.h  s/out->bytes & 511/out->bytes \& 255/
		rnbd-io       include/rnbd/proto.h  /case RNBD_OP_FLUSH/,/break/s/RNBD_F_SYNC;/RNBD_F_ALL;/
		rnbd-io       include/rnbd/proto.h  s/len >= sizeof(\*m) ? rnbd/len >= 28 ? rnbd/
		rnbd-io       include/rnbd/proto.h  s/RNBD_MSG_IO_MIN		24/RNBD_MSG_IO_MIN		23/
		rnbd-io       include/rnbd/proto.h  s/if (is_read || out->bytes != data_len/if (out->bytes != data_len/
		rnbd-io       include/rnbd/proto.h  s/RNBD_F_NOUNMAP) || minor >= 2/RNBD_F_NOUNMAP) || minor >= 1/
		rnbd-io       include/rnbd/proto.h  s/RNBD_F_PREFLUSH) || minor >= 1/RNBD_F_PREFLUSH) || minor >= 2/
		addr          kernel/rtrs/core/addr.c  s/|| end != str + len)/)/
		addr          kernel/rtrs/core/addr.c  s/0xc0) != 0x80/0x80) != 0x80/
		addr          kernel/rtrs/core/addr.c  /bool rtrs_addr_equal/,/^}/s/a->ss_family != b->ss_family/0/
		addr          kernel/rtrs/core/addr.c  s/memchr(str, ',', len)/memchr(str, ';', len)/
		addr          kernel/rtrs/core/addr.c  s/htons(0xffff)/htons(0x7fff)/
		state         kernel/rtrs/client/state.c  s/BIT_OF(RECONNECTING) | BIT_OF(DEAD)/BIT_OF(DEAD)/
		state         kernel/rtrs/client/state.c  s/BIT_OF(CONNECTED) | BIT_OF(CONNECTING_ERR)/BIT_OF(CONNECTED) | BIT_OF(RECONNECTING) | BIT_OF(CONNECTING_ERR)/
		state         kernel/rtrs/server/state.c  s/= TO(CLOSED),/= TO(CLOSED) | TO(CLOSING),/
		state         kernel/rtrs/server/state.c  s/FENCED \&\& retry_waits/FENCED \&\& !retry_waits/
		state         kernel/rnbd/client/state.c  s/TO(MAPPED) | TO(UNMAPPED)/TO(MAPPED) | TO(DISCONNECTED) | TO(UNMAPPED)/
		state         kernel/rtrs/core/fsm.h      s/return from < fsm->count/return from <= fsm->count/
		map-args      kernel/rnbd/client/map-args.c  s/NAME_ACCEPTED	255/NAME_ACCEPTED	254/
		map-args      kernel/rnbd/client/map-args.c  s/parse_number(opt, 0, 65535, port)/parse_number(opt, 0, 65536, port)/
		map-args      kernel/rnbd/client/map-args.c  s/n < 0 ? cpus : n/n/
		map-args      kernel/rnbd/client/map-args.c  s/len > size - 1/len > size/
		map-args      kernel/rnbd/client/map-args.c  s/!args->session\[0\] || //
		export-path   kernel/rnbd/server/path.c  s/(p\[2\] == '\/' || !p\[2\])/p[2] == '\/'/
		export-path   kernel/rnbd/server/path.c  s/\*len == RNBD_SERVER_PATH_SIZE - 1/*len == RNBD_SERVER_PATH_SIZE/
		export-path   kernel/rnbd/server/path.c  s/put(text, len, rest, __builtin_strlen(rest))/put(text, len, rest, 0)/
		io-prio       kernel/rnbd/server/prio.h  s/(IOPRIO_PRIO_CLASS(prio))/(IOPRIO_CLASS_IDLE)/
		io-prio       kernel/rnbd/server/prio.h  /case IOPRIO_CLASS_RT/,/return/s/IOPRIO_CLASS_BE, 0/IOPRIO_CLASS_RT, level/
		io-prio       kernel/rnbd/server/prio.h  s/IOPRIO_BE_NR - 1/IOPRIO_PRIO_MASK/
		io-prio       kernel/rnbd/server/prio.h  s/return 0;/return prio;/
		fence         kernel/rtrs/server/fence.c  s/slot->retry \&\& slot->retry->path == path/slot->retry/
		fence         kernel/rtrs/server/fence.c  s/word | FENCED) == word/word) == word/
		fence         kernel/rtrs/server/fence.c  s/slot->word \&\& word_op(slot->word)->path == path/slot->word/
		fence         kernel/rtrs/server/fence.c  s/rtrs_server_op_put(slot->retry->path, 1)/rtrs_server_op_put(slot->retry->path, 0)/
		fence         kernel/rtrs/server/fence.c  s/(slot->retry \&\& slot->retry->path == op->path)/0/
		fence         kernel/rtrs/server/fence.c  s/rtrs_server_path_close(old->path, -ECONNABORTED)/(void)old/
		fence         kernel/rtrs/server/fence.c  s/op->clobbered > op->off/op->clobbered >= op->off/
		fence         kernel/rtrs/server/fence.c  s/req->is_read ? req->data_len : 0/req->data_len/
		fence         kernel/rtrs/server/fence.c  s/max_t(u32, old->clobbered, /(/
		fence         kernel/rtrs/server/fence.c  s/retry->clobbered = clobbered_by/(void)clobbered_by/
		fence         kernel/rtrs/server/fence.c  s/op->clobbered = 0/(void)0/
		policy        kernel/rtrs/client/policy.c    s/%= pick->set->count/%= ~0U/
		policy        kernel/rtrs/client/policy.c    s/if (rtrs_client_path_connected(path))/if (path)/
		policy        kernel/rtrs/client/policy.c    s/ \* (waiting + 1)//
		policy        kernel/rtrs/client/policy.c    s/div_u64(ns, waiting)/div_u64(ns, !!waiting)/
		policy        kernel/rtrs/client/path-set.c  s/set->path\[old->count\] = path/set->path[0] = path/
		hist          kernel/rtrs/core/hist.h  s/fls64(v - 1)/fls64(v)/
		hist          kernel/rtrs/core/hist.h  s/if (o <= order)/if (o <= order + 1)/
		hist          kernel/rtrs/core/hist.h  s/o - order < count ?/o - order <= count ?/
		hist          kernel/rtrs/core/hist.h  s/bucket + 1 < count ?/bucket < count ?/
		hist          kernel/rtrs/core/hist.h  s/return entries ? 1 +/return entries ? 0 +/
		backoff       kernel/rtrs/client/backoff.h  s/<< min(attempts, 16U)/<< min(attempts, 3U)/
		backoff       kernel/rtrs/client/backoff.h  s/min(attempts, 16U)/attempts % 64/
		backoff       kernel/rtrs/client/backoff.h  s/16U), most/16U), most ? ~0U : 0/
		backoff       kernel/rtrs/client/backoff.h  s/ms \* 3 \/ 4/ms/
		backoff       kernel/rtrs/client/backoff.h  s/ms \/ 2 + 1/ms \/ 2/
		backoff       kernel/rtrs/client/backoff.h  s/random %/!random */
		hb            kernel/rtrs/core/hb.c  s/missed > hb->missed_max/missed >= hb->missed_max/
		hb            kernel/rtrs/core/hb.c  s/if (!hb->stopped)/if (hb)/
		hb            kernel/rtrs/core/hb.c  s/atomic_set(\&hb->missed, 1)/atomic_set(\&hb->missed, 2)/
		hb            kernel/rtrs/core/hb.c  s/if (hb->sent)/if (hb)/
	END
}

work=$(mktemp -d) || exit
trap 'rm -rf "$work"' EXIT
mkdir "$work/src"
cp -r "$top/include" "$top/kernel" "$work/src/" || exit

# Runs in a copy of its own
one() {
	local n=$1 program=$2 file=$3 expr=$4 dir=$work/$1
	mkdir -p "$dir/build"
	cp -r "$work/src" "$dir/src"
	sed -i "$expr" "$dir/src/$file"
	if cmp -s "$work/src/$file" "$dir/src/$file"; then
		echo "not ok $n - $program: $file has nothing for $expr"
	elif ! make -s "$dir/build/$program" B="$dir/build" SRC="$dir/src" >"$dir/log" 2>&1; then
		echo "not ok $n - $program: does not build with $expr: $(grep -m 1 error: "$dir/log")"
	elif timeout 60 "$dir/build/$program" >"$dir/log" 2>&1; then
		echo "not ok $n - $program passes with $expr"
	else
		echo "ok $n - $program fails with $expr"
	fi
	rm -rf "$dir"
}

n=0
while read -r program file expr; do
	n=$((n + 1))
	while (($(jobs -rp | wc -l) >= 2)); do
		wait -n
	done
	one "$n" "$program" "$file" "$expr" &
done < <(mutations | grep -E "${1:-.}") >"$work/tap"
wait
sort -k 2 -t k -n "$work/tap" | tee "$work/sorted"
echo "1..$n"
((n > 0)) && ! grep -q '^not ok' "$work/sorted"
