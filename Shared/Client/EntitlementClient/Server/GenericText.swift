internal import Octets
internal import Foundation

extension [String: String] {
    /// The pairs as a JSON object, as `generic_data` and the identity of a trial have it; `nil` without any.
    var genericText: String? {
        guard !isEmpty else { return nil }
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return (try? encoder.encode(self)).map { String(decoding: $0, as: UTF8.self) }
    }
}
