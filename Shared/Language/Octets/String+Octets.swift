#if canImport(Glibc)
internal import Glibc
#elseif canImport(Darwin)
internal import Darwin
#endif

/// True when two texts are the same octets of UTF-8. Swift's own `==` is canonical equivalence. It takes `é` and `e` with a combining accent for one
/// text, which no store, no peer and no other language does. An identifier that two texts share by that is a hole.
public func sameOctets(_ left: String, _ right: String) -> Bool {
    let first = left.utf8
    let second = right.utf8
    guard first.count == second.count else { return false }
    let compared = first.withContiguousStorageIfAvailable { left in
        second.withContiguousStorageIfAvailable { right in
            guard let leftBase = left.baseAddress, let rightBase = right.baseAddress else { return true }
            return memcmp(leftBase, rightBase, left.count) == 0
        }
    }
    return (compared ?? nil) ?? first.elementsEqual(second)
}

/// These stand in for the standard library's operators in every module that imports this one. The package imports it in all of its own modules: there
/// `==` on texts, and code that the compiler derives from it, compares octets. Generic code still uses canonical equivalence: a `Set` or a
/// `Dictionary` of identifiers has `OctetText` for its key.
extension String {
    @inlinable
    public static func == (left: String, right: String) -> Bool { sameOctets(left, right) }

    @inlinable
    public static func != (left: String, right: String) -> Bool { !sameOctets(left, right) }

    @inlinable
    public static func ~= (pattern: String, value: String) -> Bool { sameOctets(pattern, value) }

    /// By octets, as SQLite's `BINARY` and PostgreSQL's `C` collation order.
    @inlinable
    public static func < (left: String, right: String) -> Bool { left.utf8.lexicographicallyPrecedes(right.utf8) }

    @inlinable
    public static func > (left: String, right: String) -> Bool { right < left }

    @inlinable
    public func hasPrefix(_ prefix: String) -> Bool { utf8.starts(with: prefix.utf8) }

    @inlinable
    public func hasSuffix(_ suffix: String) -> Bool { utf8.reversed().starts(with: suffix.utf8.reversed()) }
}

extension Optional where Wrapped == String {
    @inlinable
    public static func == (left: String?, right: String?) -> Bool {
        switch (left, right) {
        case (let left?, let right?): sameOctets(left, right)
        case (nil, nil): true
        default: false
        }
    }

    @inlinable
    public static func != (left: String?, right: String?) -> Bool { !(left == right) }
}

extension Substring {
    @inlinable
    public static func == (left: Substring, right: Substring) -> Bool { left.utf8.elementsEqual(right.utf8) }

    @inlinable
    public static func != (left: Substring, right: Substring) -> Bool { !left.utf8.elementsEqual(right.utf8) }

    @inlinable
    public static func ~= (pattern: Substring, value: Substring) -> Bool { pattern.utf8.elementsEqual(value.utf8) }

    @inlinable
    public func hasPrefix(_ prefix: String) -> Bool { utf8.starts(with: prefix.utf8) }

    @inlinable
    public func hasSuffix(_ suffix: String) -> Bool { utf8.reversed().starts(with: suffix.utf8.reversed()) }
}
