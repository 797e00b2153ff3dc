/* abi_statics.h: how nvmove-cc names static functions and data, so that libnvmove finds them again. */
#ifndef NVMOVE_ABI_STATICS_H
#define NVMOVE_ABI_STATICS_H

/* In objects for link-time optimisation: NAME.nvm_in.FILE.nvm_end, and what linkers add. A datum
 * without NAME marks each such object. */
#define NVM_STATIC_IN ".nvm_in."
#define NVM_STATIC_END ".nvm_end"

/* Constants that the source gives no name. Plain strings (characters, one zero, at the end) lie in a
 * section of their own: nothing else lies there. All others are local symbols, whose names are this
 * and a number made of what they hold. */
#define NVM_STATIC_STRINGS ".nvm_strings"
#define NVM_STATIC_CONSTANT_NAME ".nvm_constant.x"

#endif
