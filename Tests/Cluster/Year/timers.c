// Timers of the kernel are set as the program says. libfaketime converts their moments, with clocks that it leaves alone too, and now and then into none:
// the program then waits for ever.
#define _GNU_SOURCE
#include <sys/syscall.h>
#include <sys/timerfd.h>
#include <unistd.h>

int timerfd_settime(int file, int flags, const struct itimerspec *value, struct itimerspec *before) {
    return (int)syscall(SYS_timerfd_settime, file, flags, value, before);
}
