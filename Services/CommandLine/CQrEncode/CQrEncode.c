#include "CQrEncode.h"
