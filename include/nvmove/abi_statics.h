/* abi_statics.h: how objects for link-time optimisation name static functions and data, so that
 * libnvmove finds out where they came from: NAME.nvm_in.FILE.nvm_end, and what linkers add. A datum
 * without NAME marks each such object. */
#ifndef NVMOVE_ABI_STATICS_H
#define NVMOVE_ABI_STATICS_H

#define NVM_STATIC_IN ".nvm_in."
#define NVM_STATIC_END ".nvm_end"

#endif
