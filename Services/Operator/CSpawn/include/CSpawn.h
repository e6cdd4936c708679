#pragma once

#include <spawn.h>

/// Closes every file from this number on in the new process (glibc 2.34): Swift does not see the extension of the C library.
/// Returns 0, or the number of an error.
int cspawn_close_from(posix_spawn_file_actions_t *actions, int first);

/// 1 when somebody keeps the system's clock right (adjtimex(2)), 0 when nobody does as far as the kernel knows. Swift sees no such call.
int cspawn_clock_is_kept(void);
