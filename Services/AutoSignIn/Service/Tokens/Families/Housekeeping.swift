internal import Clocks
internal import ContractRuntime
internal import Contracts
internal import Faults
internal import Logging
internal import Storage

/// The work without a caller: rotation, and the end of unused values (apple §4).
struct Housekeeping: Sendable {
    let base: AutoSignInBase

    static let interval: Duration = .seconds(60)
    private static let batch = 100

    /// One round a minute, by one of the copies on several hosts, until the task is cancelled.
    func run() async {
        repeat {
            guard await base.parts.store.store.lease("housekeeping") != nil else { continue }
            do throws(Fault) {
                try await round()
            } catch {
                base.parts.logger.warning("housekeeping_failed", metadata: ["error": "\(error)"])
            }
        } while (try? await Task.sleep(for: Self.interval)) != nil
    }

    /// - Throws: Faults of the storage.
    func round() async throws(Fault) {
        try await TokenRotation(base: base).rotateDue()
        while try await endIdleFamilies() == Self.batch {}
        while try await endIdleSessions() == Self.batch {}
    }

    private func endIdleFamilies() async throws(Fault) -> Int {
        let now = base.parts.clock.now()
        let ended = try await base.parts.store.change { database, touched in
            let idle = try database.idleFamilies(now: now, limit: Self.batch)
            for family in idle { try database.revoke(family.id, .idle, &touched, now: now) }
            return idle.map(\.id)
        }
        for _ in ended { base.parts.metrics.revoked(RevocationReason.idle.label) }
        if !ended.isEmpty { base.outbox.wake() }
        return ended.count
    }

    private func endIdleSessions() async throws(Fault) -> Int {
        let now = base.parts.clock.now()
        let ended = try await base.parts.store.change { database, touched in
            let idle = try database.idleSessions(now: now, limit: Self.batch)
            try database.end(idle, now: now)
            touched.sessions.formUnion(idle.map(\.id))
            return idle.count
        }
        if ended > 0 { base.outbox.wake() }
        return ended
    }
}

/// Replaces values on Apple Accounts: every 90 days, or on risk (apple §1.2).
struct TokenRotation: Sendable {
    let base: AutoSignInBase

    /// Values that one round of the timer replaces.
    private static let batch = 100

    func rotate(_ request: RotateTokenRequest, _ context: CallContext) async throws(Fault) -> Rotation {
        let caller = try await base.callers.backend(request.call, context)
        var subject = request
        subject.call = nil
        subject.idempotencyKey = ""
        let place = try IdempotentPlace("RotateToken", key: request.idempotencyKey, caller: [caller.client.text], request: subject)
        return try await base.idempotency.once(place) { remembering throws(Fault) in
            try await rotate(FamilyID(request.familyID), of: caller.programmer, remembering)
        }
    }

    /// - Parameter programmer: `nil`: the service itself rotates.
    /// - Throws: `family_unknown` unless it is the programmer's and active; `rotation_in_progress`.
    private func rotate(_ id: FamilyID, of programmer: ProgrammerID?, _ remembering: Remembering?) async throws(Fault) -> Rotation {
        let now = base.parts.clock.now()
        let value = TokenValue.random(from: base.parts.random)
        let (comparison, sealed) = (base.values.comparison(value.secret), try base.values.close(value))
        let rotation = try await base.parts.store.change { database, _ in
            guard let family = try database.family(id), family.programmer == programmer ?? family.programmer, family.state == .active else {
                throw Fault.familyUnknown
            }
            let versions = try database.versions(of: id)
            guard let active = versions.last(where: { $0.state == .active }), !versions.contains(where: { $0.state == .pending }) else {
                throw Fault(.rotationInProgress, "A new value is on its way already.")
            }
            let number = (versions.last?.number ?? 0) + 1
            try database.insert(
                TokenVersionRecord(id: value.id, family: id, number: number, comparison: comparison, sealed: sealed, state: .pending, createdAt: now))
            try database.enqueue(.update(id, from: active.id, to: value.id), programmer: family.programmer, now: now)
            let rotation = Rotation(newVersion: UInt32(number), appleState: .queued)
            try remembering?.keep(rotation, in: database)
            return rotation
        }
        base.parts.metrics.rotations.increment()
        base.parts.logger.info("token_rotated", metadata: ["family": "\(id)", "version": "\(rotation.newVersion)"])
        base.outbox.wake()
        return rotation
    }

    /// Replaces values that are older than 90 days.
    /// - Throws: Faults of the storage.
    func rotateDue() async throws(Fault) {
        let now = base.parts.clock.now()
        let due = try await base.parts.store.store.read { try $0.versionsToRotate(now: now, limit: Self.batch) }
        for version in due {
            do throws(Fault) {
                _ = try await rotate(version.family, of: nil, nil)
            } catch {
                guard [.familyUnknown, .rotationInProgress].contains(error.code) else { throw error }
            }
            // Looked at again in a day: by then it is superseded, or it has to be replaced still.
            try await base.parts.store.store.write { try $0.postponeRotation(version.id, to: now + .seconds(86_400)) }
        }
    }
}
