internal import Octets
internal import EntitlementClient
internal import Foundation

/// Values of the kinds that apps hand over and read, in any class.
enum GivenValue {
    /// - Returns: `nil` for a value of any other kind, which counts as absent.
    static func json(_ value: Any) -> JSONValue? {
        switch value {
        case let text as String: .string(text)
        case let text as NSString: .string(text.description)
        case let flag as Bool where !(value is NSNumber) || CFBooleanLike.isOne(value): .bool(flag)
        case let number as Int: .integer(Int64(number))
        case let number as Int32: .integer(Int64(number))
        case let number as Int64: .integer(number)
        case let number as UInt32: .integer(Int64(number))
        case let number as Double: .number(number)
        case let number as NSNumber: .integer(number.int64Value)
        case let list as [Any]: .array(list.compactMap(json))
        case let map as [AnyHashable: Any]: .object(object(map))
        default: nil
        }
    }

    /// Entries with a text as key.
    static func object(_ given: [AnyHashable: Any]) -> [String: JSONValue] {
        var object: [String: JSONValue] = [:]
        for (key, value) in given {
            if let name = text(key.base), let value = json(value) { object[name] = value }
        }
        return object
    }

    /// Texts of a list; other values are left out.
    static func texts(_ given: [Any]) -> [String] { given.compactMap(text).filter { !$0.isEmpty } }

    /// Pairs of texts; numbers become texts.
    static func texts(_ given: [AnyHashable: Any]?) -> [String: String] {
        var pairs: [String: String] = [:]
        for (key, value) in given ?? [:] {
            if let name = text(key.base), let value = text(value) ?? (value as? NSNumber)?.stringValue { pairs[name] = value }
        }
        return pairs
    }

    /// Lists of texts by name.
    static func lists(_ given: [AnyHashable: Any]?) -> [String: [String]] {
        var lists: [String: [String]] = [:]
        for (key, value) in given ?? [:] { if let name = text(key.base), let list = value as? [Any] { lists[name] = texts(list) } }
        return lists
    }

    private static func text(_ value: Any) -> String? { (value as? String) ?? (value as? NSString)?.description }

    /// As metadata reach an app: a text, an `NSArray` or an `NSDictionary`, a number or a flag.
    static func plain(_ value: JSONValue) -> Any? {
        switch value {
        case .null: nil
        case .bool(let flag): flag
        case .integer(let number): Int(number)
        case .number(let number): number
        case .string(let text): text
        case .array(let list): NSArray(array: list.compactMap(plain))
        case .object(let map): NSDictionary(dictionary: map.compactMapValues(plain))
        }
    }
}

/// Only the type of an `NSNumber` tells whether it is a flag.
private enum CFBooleanLike {
    static func isOne(_ value: Any) -> Bool {
        (value as? NSNumber).map { String(cString: $0.objCType) == "c" || String(cString: $0.objCType) == "B" } ?? false
    }
}
