internal import Faults
internal import Hummingbird

/// `Idempotency-Key`: the same key and call have one effect and one answer, for 24 hours (apple §4).
enum IdempotencyKey {
    /// - Throws: `invalid_request` when there is none, more than one, or one of another form.
    static func required(_ exchange: Exchange) throws(Fault) -> String {
        let sent = exchange.headers[values: .idempotencyKey]
        guard let key = sent.first else {
            throw Fault(.invalidRequest, "Required 'Idempotency-Key' is not present: a new one for each change, the same one when it is repeated")
        }
        guard sent.count == 1, (1...128).contains(key.utf8.count), key.utf8.allSatisfy({ (0x21...0x7e).contains($0) }) else {
            throw Fault(.invalidRequest, "'Idempotency-Key' must have 1 to 128 visible ASCII characters")
        }
        return key
    }
}
