#define _GNU_SOURCE
#include "CSpawn.h"

#include <sys/timex.h>

int cspawn_close_from(posix_spawn_file_actions_t *actions, int first) { return posix_spawn_file_actions_addclosefrom_np(actions, first); }

int cspawn_clock_is_kept(void) {
    struct timex facts = {0};
    return adjtimex(&facts) >= 0 && (facts.status & STA_UNSYNC) == 0;
}
