internal import Clocks
package import Contracts

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

/// Values that an MVPD sent with a decision (rest-v1 §3.19).
package struct AttributeUpdate: Hashable, Sendable {
    package let session: SessionID
    package let key: SessionKey
    package let attributes: [UserAttribute]

    init(_ request: UpdateAttributesRequest) {
        session = SessionID(request.sessionID)
        key = SessionKey(device: DeviceID(request.deviceID), requestor: RequestorID(request.requestor))
        attributes = request.attributes
    }

    /// The session afterwards.
    ///
    /// Each attribute replaces the one of its key; one without values removes it. What an app reads as `updated` is in whole seconds and
    /// grows with every change, also with two in one second.
    /// - Parameter records: Those of the device at the requestor.
    /// - Returns: `nil` when nothing differs, or the session is none of them, or over.
    func applied(to records: [SessionRecord], now: Timestamp) -> SessionRecord? {
        guard var record = records.first(where: { $0.id == session }), now < record.expiresAt else { return nil }
        var merged = record.subject.attributes
        for attribute in attributes {
            let place = merged.firstIndex { $0.key == attribute.key }
            switch (place, attribute.values.isEmpty) {
            case (let place?, true): merged.remove(at: place)
            case (let place?, false): merged[place] = attribute
            case (nil, false): merged.append(attribute)
            case (nil, true): break
            }
        }
        guard merged != record.subject.attributes else { return nil }
        record.subject.attributes = merged
        record.updatedAt = max(now, Timestamp(seconds: record.updatedAt.seconds + 1))
        return record
    }
}
