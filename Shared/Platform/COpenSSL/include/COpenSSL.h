#pragma once

#include "BoxofficeCrypto.h"
#include "BoxofficeTls.h"
