#pragma once

// PostgreSQL's client library.
#include <postgresql/libpq-fe.h>
