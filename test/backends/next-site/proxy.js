import { NextResponse } from "next/server";

/** Next bundles the cache handler into this, too. */
export function proxy() {
  return NextResponse.next();
}
