/*
** $Id: lapi.h,v 2.2.1.1 2007/12/27 13:02:25 roberto Exp $
** Auxiliary functions from Lua API
** See Copyright Notice in lua.h
*/

#ifndef lapi_h
#define lapi_h


#include "lobject.h"


/* fencepost: the value at an index, for lscript.c */
LUAI_FUNC const TValue *luaA_index (lua_State *L, int idx);

LUAI_FUNC void luaA_pushobject (lua_State *L, const TValue *o);

#endif
