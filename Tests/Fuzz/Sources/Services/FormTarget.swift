internal import Faults
@testable internal import GatewayEdge
internal import TextEncodings

/// Parameters of query and form: what is read is what another, plain reading finds, and is read again from its own encoding.
///
/// The first two bytes choose where the query ends and the form begins.
enum FormTarget {
    @Sendable static func run(_ input: inout Input) {
        let cut = input.number()
        let bytes = input.remainder()
        let end = bytes.isEmpty ? 0 : cut % (bytes.count + 1)
        let (query, form) = (Array(bytes[..<end]), Array(bytes[end...]))
        let expected = plainly(query).flatMap { first in plainly(form).map { first + $0 } }
        guard let set = try? ParameterSet(query: query, form: form) else { return check(expected == nil, "parameters were refused without reason") }
        guard let expected else { fatalError("parameters were taken that are no text") }
        noteTaken()
        check(isSame(set.pairs, expected), "parameters are read differently")
        check(isSame((try? ParameterSet(query: [], form: query + [0x26] + form))?.pairs, expected), "query and form are read differently")
        let encoded = Array(FormEncoding.encode(set.pairs.map { ($0.name, $0.value) }).utf8)
        check(isSame((try? ParameterSet(query: encoded, form: []))?.pairs, set.pairs), "parameters changed on their way")
        for pair in set.pairs.prefix(40) { checkLookup(pair.name, set) }
    }

    private static func checkLookup(_ name: String, _ set: ParameterSet) {
        let all = set.pairs.filter { $0.name == name }.map(\.value)
        check(set.all(name) == all, "a value is not found")
        let isOne = all.allSatisfy { $0 == all[0] }
        do {
            let value = try set.value(name)
            check(isOne && value == all[0], "one of several values was chosen")
            check((try? set.required(name)) == (all[0].isEmpty ? nil : all[0]), "an empty value counts as one")
        } catch {
            check(!isOne, "a value was refused without reason")
        }
    }

    /// By the letter of the rules, octet by octet. `nil`: refused.
    private static func plainly(_ bytes: [UInt8]) -> [(name: String, value: String)]? {
        var pairs: [(name: String, value: String)] = []
        for field in bytes.split(separator: 0x26, omittingEmptySubsequences: true) {
            let sides = field.split(separator: 0x3d, maxSplits: 1, omittingEmptySubsequences: false)
            guard let name = decoded(sides[0]), let value = sides.count > 1 ? decoded(sides[1]) : "" else { return nil }
            pairs.append((name, value))
        }
        return pairs
    }

    private static func decoded(_ bytes: ArraySlice<UInt8>) -> String? {
        var decoded: [UInt8] = []
        var rest = bytes
        while let byte = rest.popFirst() {
            guard byte == 0x25 else {
                decoded.append(byte == 0x2b ? 0x20 : byte)
                continue
            }
            guard let high = rest.popFirst(), let low = rest.popFirst(), let value = hex(high, low) else { return nil }
            decoded.append(value)
        }
        return decoded.contains(0) ? nil : decoded.text
    }

    private static func hex(_ high: UInt8, _ low: UInt8) -> UInt8? {
        let digits = [high, low]
        guard digits.allSatisfy({ (0x30...0x39).contains($0) || (0x41...0x46).contains($0) || (0x61...0x66).contains($0) }) else { return nil }
        return UInt8(String(decoding: digits, as: UTF8.self), radix: 16)
    }

    private static func isSame(_ left: [(name: String, value: String)]?, _ right: [(name: String, value: String)]) -> Bool {
        left.map { left in left.count == right.count && zip(left, right).allSatisfy { $0.name == $1.name && $0.value == $1.value } } ?? false
    }
}
