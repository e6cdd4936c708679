#pragma once
// Debian's package libssl-dev.
#include <openssl/evp.h>
#include <openssl/hmac.h>
