internal import Clocks
package import Contracts
internal import StrictJson

/// The data that an app may have of the person behind a session, before anything is encrypted (rest-v1 §8).
struct MetadataSheet: Sendable {
    struct Item: Hashable, Sendable {
        let key: String
        let value: MetadataEntry.Value
        let isEncrypted: Bool
    }

    private(set) var items: [Item]

    init(items: [Item]) { self.items = items }

    /// - Parameters:
    ///   - keys: Those that the integration enables, in its order. The service's own statements about a session are always included.
    ///   - trial: The facts of a TempPass session.
    init(_ session: SessionRecord, keys: [MetadataKey], trial: TempPassFacts?) {
        if session.kind == .degraded {
            items = [Self.item("userID", keys, .text(session.userID))]
            return
        }
        let attributes = MetadataAttributes(session.subject)
        var names: [String] = []
        for key in keys.map(\.name) where !names.contains(key) { names.append(key) }
        let told = names.compactMap { name in
            attributes.value(of: name, parts: keys.parts(of: name)).map { Self.item(name, keys, $0) }
        }
        let own = Self.origin(of: session) + (trial.map(Self.facts) ?? [])
        items = told.filter { item in !own.contains { $0.key == item.key } } + own
        if session.kind == .automatic { self = forStreaming }
    }

    /// The data that an automatic session may have of it (apple §1.2).
    var forStreaming: MetadataSheet {
        var sheet = self
        sheet.items.removeAll { !StreamingMetadata.covers($0.key) }
        return sheet
    }

    /// A platform's session says so, for the logout of rest-v1 §4.7.
    private static func origin(of session: SessionRecord) -> [Item] {
        session.kind == .platform ? [Item(key: "tokenSource", value: .text("Apple"), isEncrypted: false)] : []
    }

    /// rest-v1 §6.2.
    private static func facts(of trial: TempPassFacts) -> [Item] {
        var values: [(String, MetadataEntry.Value)] = []
        if let remaining = trial.remainingResources { values.append(("remaining_resources", .number(Int64(remaining)))) }
        if let used = trial.usedResources { values.append(("used_assets", .list(TextList(values: used)))) }
        values.append(("expiration_date", .number(trial.expiresAt.milliseconds)))
        return values.map { Item(key: $0.0, value: $0.1, isEncrypted: false) }
    }

    private static func item(_ name: String, _ keys: [MetadataKey], _ value: MetadataEntry.Value) -> Item {
        Item(key: name, value: value, isEncrypted: keys.mustEncrypt(name))
    }
}

extension MetadataKey {
    /// Without the part of an object that it may name.
    fileprivate var name: String { key.metadataName }
}

extension [MetadataKey] {
    /// The parts of an object that are enabled; `nil`: all.
    fileprivate func parts(of name: String) -> Set<String>? {
        let matching = filter { $0.name == name }
        if matching.contains(where: { $0.key == name }) { return nil }
        return Set(matching.map { String($0.key.dropFirst(name.count + 1)) })
    }

    /// `zip` is encrypted whatever a record says; what the MVPD itself encrypted is passed on as it came (rest-v1 §8).
    fileprivate func mustEncrypt(_ name: String) -> Bool {
        switch name {
        case "zip": true
        case "encryptedZip": false
        default: contains { $0.name == name && $0.encrypted }
        }
    }
}

extension String {
    /// The name of a metadata key without the part of an object: `maxRating` of `maxRating.VCHIP`.
    var metadataName: String {
        guard let point = utf8.firstIndex(of: UInt8(ascii: ".")) else { return self }
        return String(self[..<point])
    }
}

extension MetadataEntry.Value {
    /// A value as upstream tells it.
    /// - Returns: `nil` for what apps have no form for: null, and lists or objects within others.
    package init?(json: String) {
        guard let node = try? JsonDocument(parsing: Array(json.utf8)).root else { return nil }
        switch node.content {
        case .null: return nil
        case .bool(let flag): self = .flag(flag)
        case .number(let text): self = Int64(text).map { .number($0) } ?? .text(text)
        case .string(let text): self = .text(text)
        case .array(let elements): self = .list(TextList(values: elements.compactMap(\.scalarText)))
        case .object(let members):
            self = .map(TextMap(entries: members.compactMap { member in member.value.scalarText.map { TextMapEntry(key: member.name, value: $0) } }))
        }
    }
}

extension JsonNode {
    /// A text, a number or a boolean as text.
    fileprivate var scalarText: String? {
        switch content {
        case .string(let text), .number(let text): text
        case .bool(let flag): flag ? "true" : "false"
        default: nil
        }
    }
}

/// The data of the person that an automatic session may have: enough to stream, and nothing that opens more (apple §1.2).
enum StreamingMetadata {
    private static let names = ["userID", "channelID", "maxRating"]

    /// - Parameter key: The key may also name a part of an object, such as `maxRating.VCHIP`.
    static func covers(_ key: String) -> Bool { names.contains(key.metadataName) }
}

/// The attributes of a person by metadata key, with the types of rest-v1 §8.
struct MetadataAttributes: Sendable {
    private static let flags: Set<String> = ["hba_status", "allowMirroring", "onNet", "inHome"]
    private static let lists: Set<String> = ["zip", "channelID"]
    private static let objects: Set<String> = ["maxRating"]
    /// The upstream id; told also where the MVPD's attribute map has no entry for it.
    private static let identities: Set<String> = ["userID", "upstreamUserID"]

    private let subject: ProviderSubject

    init(_ subject: ProviderSubject) { self.subject = subject }

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
    /// Each attribute replaces the one of its key; one without values removes it. Apps read `updated` in whole seconds. It grows with every change,
    /// also with two in one second.
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
