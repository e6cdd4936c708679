#include "CXmlSec.h"
