#pragma once

#include "BoxofficeTls.h"
