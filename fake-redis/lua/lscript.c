/*
** What fencepost adds to Lua for scripts: states are kept and used again by
** one script after another, and nothing that a script does may be seen by the
** next. See README.md in this folder.
**
** - Tables are open, read-only, or watched: a watched table is open to all, and
**   becomes plainly open by the first write, which tells whether it may be used
**   again as it is. All writes pass luaH_checkwrite.
** - Tables, functions and coroutines have numbers in place of addresses, by
**   which tables order them and `tostring' shows them. They begin anew with
**   each script.
** - Functions of C count as many instructions as their work is worth, so that
**   the hook looks at them as often as at a loop of the same duration.
*/


#define lscript_c
#define LUA_CORE

#include "lua.h"

#include "lapi.h"
#include "ldebug.h"
#include "ldo.h"
#include "lobject.h"
#include "lstate.h"
#include "lstring.h"


/* what is bigger than this is announced before it is allocated */
#define WANTED_MIN	(1 << 20)


/*
** Whatever there is now is shared by all scripts.
*/
LUA_API void lua_sealstate (lua_State *L) {
  G(L)->sharedid = G(L)->nextid;
}


/*
** Called before every script, on the main thread.
*/
LUA_API void lua_beginscript (lua_State *L) {
  global_State *g = G(L);
  g->nextid = g->sharedid;
  g->wanted = 0;
  g->ending = 0;
  resethookcount(L);
}


/*
** Has the hook called at every instruction from now on, until the next script
** begins: where the C stack is full, a script could catch what a hook raises.
*/
LUA_API void lua_endscript (lua_State *L) {
  G(L)->ending = 1;
}


/*
** Gives a table another number, if it was made by another script.
*/
LUA_API void lua_numbertable (lua_State *L, int index, unsigned int id) {
  const TValue *o = luaA_index(L, index);
  api_check(L, ttistable(o));
  hvalue(o)->id = id;
}


/*
** The number of a table, function or coroutine.
*/
LUA_API unsigned int lua_objectid (lua_State *L, int index) {
  const TValue *o = luaA_index(L, index);
  switch (ttype(o)) {
    case LUA_TTABLE: return hvalue(o)->id;
    case LUA_TFUNCTION: return clvalue(o)->c.id;
    case LUA_TTHREAD: return thvalue(o)->id;
    default: return 0;
  }
}


/*
** Counts instructions for work that was done; the hook is called before the
** next real instruction if it is due.
*/
LUA_API void lua_charge (lua_State *L, size_t units) {
  if (units < (size_t)L->hookcount)
    L->hookcount -= (int)units;
  else if (L->hookcount > 0)
    L->hookcount = 1;
}


/*
** Counts instructions for work that is about to be done, and calls the hook as
** often as it is due. It may raise an error.
*/
LUA_API void lua_work (lua_State *L, size_t units) {
  while (L->hookcount > 0 && L->hook != NULL) {
    if (units < (size_t)L->hookcount) {
      L->hookcount -= (int)units;
      return;
    }
    units -= (size_t)L->hookcount;
    resethookcount(L);
    luaD_callhook(L, LUA_HOOKCOUNT, -1);
  }
}


/*
** Asks the hook whether so much memory may be allocated.
*/
LUA_API void lua_want (lua_State *L, size_t bytes) {
  if (bytes >= WANTED_MIN) {
    G(L)->wanted = bytes;
    luaD_callhook(L, LUA_HOOKCOUNT, -1);
    G(L)->wanted = 0;
  }
}


LUA_API size_t lua_wanted (lua_State *L) {
  size_t wanted = G(L)->wanted;
  G(L)->wanted = 0;  /* the hook may raise an error */
  return wanted;
}


/*
** Lets `to' go on counting where `from' is.
*/
LUA_API void lua_handover (lua_State *from, lua_State *to) {
  to->hookcount = from->hookcount;
}
