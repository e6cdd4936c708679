#include "CSandboxXml.h"
