internal import Clocks
internal import ContractRuntime
internal import Cryptography
internal import Faults
internal import Identifiers
internal import Storage

/// Lets a call that is sent again have its effect once: equal keys get the first answer for 24 hours (apple §4).
///
/// Calls with the same key at the same time share one effect and one answer, also when copies of the service get them. An effect is committed
/// together with its answer. The second commit fails, or finds nothing left to do. A refusal is not kept: it changed nothing.
actor Idempotency {
    private let store: AutoSignInStore
    private let seal: TokenSeal
    private let clock: any WallClock
    private var underWay: [Digest: (request: Digest, task: Task<Result<[UInt8], Fault>, Never>)] = [:]

    static let memory: Duration = .seconds(24 * 3600)

    init(store: AutoSignInStore, seal: TokenSeal, clock: any WallClock) {
        self.store = store
        self.seal = seal
        self.clock = clock
    }

    /// - Parameters:
    ///   - place: `nil`: nothing is remembered.
    ///   - perform: Puts the effect and, in the same commit, `Remembering.keep(_:in:)`.
    /// - Throws: `idempotency_key_reused`; what `perform` throws; faults of the storage.
    func once<Answer: Message>(
        _ place: IdempotentPlace?, _ perform: @escaping @Sendable (Remembering) async throws(Fault) -> Answer
    ) async throws(Fault) -> Answer {
        guard let place else { return try await perform(Remembering(place: nil, seal: seal, now: clock.now())) }
        if let shared = underWay[place.digest] {
            guard shared.request == place.request else { throw Self.reused }
            return try Answer(serialized: try await shared.task.value.get())
        }
        let task = Task { () async -> Result<[UInt8], Fault> in
            do throws(Fault) {
                if let known = try await answer(at: place) { return .success(known) }
                return .success(try await perform(Remembering(place: place, seal: seal, now: clock.now())).serialized())
            } catch {
                return await answerElsewhere(place, error)
            }
        }
        underWay[place.digest] = (place.request, task)
        let result = await task.value
        underWay[place.digest] = nil
        return try Answer(serialized: try result.get())
    }

    /// The answer that another copy kept because it had the effect meanwhile, so that this one failed. It may also be one that this copy kept in a
    /// commit whose answer was lost.
    private func answerElsewhere(_ place: IdempotentPlace, _ failure: Fault) async -> Result<[UInt8], Fault> {
        do throws(Fault) {
            return try await answer(at: place).map { .success($0) } ?? .failure(failure)
        } catch {
            return .failure(error.code == .idempotencyKeyReused ? error : failure)
        }
    }

    private func answer(at place: IdempotentPlace) async throws(Fault) -> [UInt8]? {
        let now = clock.now()
        guard let kept = try await store.keptAnswer(place.digest, now: now) else { return nil }
        guard kept.request == place.request else { throw Self.reused }
        guard let answer = seal.open(kept.answer, "answer", of: place.owner) else {
            throw Fault(.internal, "An internal fault occurred.")
        }
        return answer
    }

    static var reused: Fault { Fault(.idempotencyKeyReused, "The idempotency key came before with another request.") }
}

/// Keeps an answer, sealed, in the commit that has the effect.
struct Remembering: Sendable {
    fileprivate let place: IdempotentPlace?
    fileprivate let seal: TokenSeal
    fileprivate let now: Timestamp

    /// - Throws: When another copy has had the effect; this one's is undone then.
    func keep(_ answer: some Message, in database: Database) throws {
        guard let place else { return }
        let sealed = try seal.close(try answer.serialized(), "answer", of: place.owner)
        let isFirst = try database.keep(sealed, request: place.request, at: place.digest, now: now, until: now + Idempotency.memory)
        guard isFirst else {
            throw Fault(.unavailable, "The call was answered by another copy.", retryAfter: .seconds(1))
        }
    }
}

extension IdempotentPlace {
    fileprivate var owner: String { digest.bytes.map { String($0, radix: 16) }.joined(separator: ".") }
}

/// An idempotency key counts here: for one operation of one caller (apple §4).
struct IdempotentPlace: Hashable, Sendable {
    /// The digest of operation, caller and key together.
    let digest: Digest
    /// The digest of the request; another one with the same key is refused.
    let request: Digest

    static let longestKey = 128

    /// - Parameters:
    ///   - key: Empty: the call may not be repeated.
    ///   - caller: The client, and the device where there is one; for browsers the session.
    ///   - request: Without what may change when it is sent again, such as the bearer.
    /// - Returns: `nil` for an empty key.
    /// - Throws: `invalid_request` when the key is too long.
    init?(_ operation: StaticString, key: String, caller: [String], request: some Message) throws(Fault) {
        guard !key.isEmpty else { return nil }
        guard key.unicodeScalars.count <= Self.longestKey else { throw Fault(.invalidRequest, "'Idempotency-Key' is longer than 128 characters.") }
        let parts = ["\(operation)", key] + caller
        digest = Digest(bytes: SHA256.hash(parts.map { "\($0.utf8.count):\($0)" }.joined()))
        self.request = Digest(bytes: SHA256.hash(try request.serialized()))
    }
}

extension CheckedCaller {
    /// The caller's names for idempotency keys.
    var names: [String] {
        switch self {
        case .device(let caller): caller.names
        case .backend(let caller): [caller.client.text]
        case .web(let caller): ["web", Hex.encode(caller.session.bytes)]
        }
    }
}

extension DeviceCaller {
    var names: [String] { [client.text, device.text] }
}
