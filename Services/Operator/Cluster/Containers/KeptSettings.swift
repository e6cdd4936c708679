internal import Foundation

/// A file that is there, stays as it is, and says something else than would be written now.
struct KeptSettings: Sendable, Equatable {
    /// Its path.
    let file: String
    /// One line for each setting that differs, as `gateway.listen is "0.0.0.0:8080", and would be "127.0.0.1:8080"`.
    let differences: [String]

    /// Where a file differs from what would be written, key by key.
    /// - Parameters:
    ///   - content: The content of the file.
    ///   - object: The object that would be written.
    static func differences(of content: Data, from object: [String: Any]) -> [String] {
        guard var there = try? JSONSerialization.jsonObject(with: content) as? [String: Any] else { return ["it is no JSON object"] }
        // Additions of 'store prepare' are no change.
        if object["storage"] == nil { there["storage"] = nil }
        return differences(there, object, key: "")
    }

    private static func differences(_ there: Any?, _ new: Any?, key: String) -> [String] {
        if let there = there as? [String: Any], let new = new as? [String: Any] {
            return Set(there.keys).union(new.keys).sorted().flatMap { name in
                differences(there[name], new[name], key: key.isEmpty ? name : "\(key).\(name)")
            }
        }
        let (present, future) = (there.map(text), new.map(text))
        guard present != future else { return [] }
        return ["\(key) is \(present ?? "left out"), and would be \(future ?? "left out")"]
    }

    private static func text(_ value: Any) -> String {
        let data = try? JSONSerialization.data(withJSONObject: value, options: [.fragmentsAllowed, .sortedKeys, .withoutEscapingSlashes])
        return data.map { String(decoding: $0, as: UTF8.self) } ?? "\(value)"
    }
}
