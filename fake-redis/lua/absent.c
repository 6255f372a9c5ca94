/*
** Libraries that mlua may open, and that no script must have.
*/

#include "lua.h"
#include "lauxlib.h"
#include "lualib.h"

static int absent (lua_State *L) {
  return luaL_error(L, "this library is not built in");
}

LUALIB_API int luaopen_io (lua_State *L) { return absent(L); }
LUALIB_API int luaopen_os (lua_State *L) { return absent(L); }
LUALIB_API int luaopen_debug (lua_State *L) { return absent(L); }
LUALIB_API int luaopen_package (lua_State *L) { return absent(L); }
LUALIB_API void luaL_openlibs (lua_State *L) { absent(L); }
