internal import Contracts

/// The attributes of a person by metadata key, with the types of rest-v1 §8.
struct MetadataAttributes: Sendable {
    private static let flags: Set<String> = ["hba_status", "allowMirroring", "onNet", "inHome"]
    private static let lists: Set<String> = ["zip", "channelID"]
    private static let objects: Set<String> = ["maxRating"]
    /// The upstream id; told also where the MVPD's attribute map has no entry for it.
    private static let identities: Set<String> = ["userID", "upstreamUserID"]

    private let subject: UpstreamSubject

    init(_ subject: UpstreamSubject) { self.subject = subject }

    /// - Parameter parts: Those of an object that may be told; `nil`: all.
    /// - Returns: `nil` when the MVPD sent nothing, or nothing that fits the key's type.
    func value(of key: String, parts: Set<String>?) -> MetadataEntry.Value? {
        if let object = object(key, parts) { return object }
        guard parts == nil, !Self.objects.contains(key) else { return nil }
        let values = subject.attributes.first { $0.key == key }?.values ?? (Self.identities.contains(key) ? [subject.userID] : [])
        guard let first = values.first else { return nil }
        if Self.flags.contains(key) { return Self.flag(first).map { .flag($0) } }
        if Self.lists.contains(key) || values.count > 1 { return .list(TextList(values: values)) }
        return .text(first)
    }

    private func object(_ key: String, _ parts: Set<String>?) -> MetadataEntry.Value? {
        let entries = subject.attributes.compactMap { attribute -> TextMapEntry? in
            guard attribute.key.hasPrefix(key + "."), let value = attribute.values.first else { return nil }
            let part = String(attribute.key.dropFirst(key.count + 1))
            return parts?.contains(part) == false ? nil : TextMapEntry(key: part, value: value)
        }
        return entries.isEmpty ? nil : .map(TextMap(entries: entries))
    }

    /// The words that a mapping accepts (mvpd §2.5).
    private static func flag(_ text: String) -> Bool? {
        switch text.lowercased() {
        case "true", "1", "yes": true
        case "false", "0", "no": false
        default: nil
        }
    }
}
