internal import Clocks
internal import Contracts

/// Values that an MVPD sent with a decision (rest-v1 §3.19).
struct AttributeUpdate: Hashable, Sendable {
    let session: SessionID
    let key: SessionKey
    let attributes: [UserAttribute]

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
