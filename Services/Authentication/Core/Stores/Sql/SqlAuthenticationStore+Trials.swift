package import Clocks
package import Faults
internal import Storage

/// Trials of TempPasses; they never end by themselves (rest-v1 §5).
extension SqlAuthenticationStore {
    /// Stores the session of a preview in place of the one before, shortened to the trial that its holder has. The registration code that it
    /// came through is marked used, and a sign-in under way through it ends.
    package func start(_ preview: FreePreview, now: Timestamp) async throws(Fault) -> FreePreviewResult {
        let since = since(preview.holder)
        return try await starting(preview.session) { database in
            guard let session = preview.session(continuing: try database.trial(of: preview.holder, since: since), now: now) else {
                return Start(.usedUp)
            }
            guard let code = try database.use(codeOf: session, now: now) else { return Start(.codeGone) }
            try session.insert(into: database)
            return Start(.started(session), using: code.code)
        }
    }

    /// Counts a play as one change: it begins the trial and takes one of its resources. The play's session, if there is one, gets the trial's end.
    /// From then on the trial knows the holder's device and user, unless another trial does.
    package func spend(_ play: TrialPlay, now: Timestamp) async throws(Fault) -> TrialPlay.Outcome {
        // Most plays are refused or repeat an earlier one: they need no commit.
        let since = since(play.holder)
        let outcome = try await store.read { try $0.outcome(of: play, since: since, now: now) }
        guard case .permitted(let permit) = outcome, !permit.changesNothing else { return outcome }
        defer { memory.forget(play.holder.key) }
        return try await store.write { database in
            if since > Timestamp(milliseconds: 0) { try database.forgetTrials(of: play.holder, before: since) }
            let outcome = try database.outcome(of: play, since: since, now: now)
            if case .permitted(let permit) = outcome, !permit.changesNothing { try database.store(permit, of: play, now: now) }
            return outcome
        }
    }

    /// The trial of that id; `nil` once it was reset.
    package func trial(_ id: TrialID) async throws(Fault) -> Trial? {
        try await store.read { try $0.trial(id) }
    }

    /// The trial of which the holder's device or user is known; `nil`: its clock was not started.
    package func trial(of holder: TrialHolder) async throws(Fault) -> Trial? {
        let since = since(holder)
        return try await store.read { try $0.trial(of: holder, since: since)?.trial }
    }

    /// Trials from before are another programmer's.
    private func since(_ holder: TrialHolder) -> Timestamp {
        lives.since(holder.key.requestor, mvpd: holder.mvpd.text)
    }

    /// Forgets trials with everything that they know.
    /// - Returns: The number of trials that were there.
    package func reset(_ scope: TrialScope, requestor: RequestorID, mvpd: MvpdID) async throws(Fault) -> Int {
        let since = lives.since(requestor, mvpd: mvpd.text)
        return try await store.write { database in
            // Nobody is told how many there were of another programmer.
            if since > Timestamp(milliseconds: 0) {
                try database.run("DELETE FROM trial WHERE requestor = ? AND mvpd = ? AND started_at_ms < ?", [requestor, mvpd, since])
            }
            let trials = "DELETE FROM trial WHERE requestor = ?1 AND mvpd = ?2"
            switch scope {
            case .all:
                return try database.run("\(trials)", [requestor, mvpd])
            case .device(let device):
                let ids = "SELECT trial FROM trial_device WHERE requestor = ?1 AND mvpd = ?2 AND device_id = ?3"
                return try database.run("\(trials) AND id IN (\(ids))", [requestor, mvpd, device])
            case .users:
                let ids = "SELECT trial FROM trial_user WHERE requestor = ?1 AND mvpd = ?2"
                return try database.run("\(trials) AND id IN (\(ids))", [requestor, mvpd])
            case .user(let user):
                let ids = "SELECT trial FROM trial_user WHERE requestor = ?1 AND mvpd = ?2 AND \"user\" = ?3"
                return try database.run("\(trials) AND id IN (\(ids))", [requestor, mvpd, user])
            }
        }
    }
}

extension Database {
    fileprivate func trial(_ id: TrialID) throws -> Trial? {
        let known = try first("SELECT started_at_ms, expires_at_ms FROM trial WHERE id = ?", [id]) {
            (startedAt: $0.next() as Timestamp, expiresAt: $0.next() as Timestamp)
        }
        guard let known else { return nil }
        let resources: [String] = try values("SELECT resource FROM trial_resource WHERE trial = ? ORDER BY used_at_ms, number", [id])
        return Trial(id: id, startedAt: known.startedAt, expiresAt: known.expiresAt, resources: resources)
    }

    /// - Parameter since: Those that began before count for nobody.
    fileprivate func trial(of holder: TrialHolder, since: Timestamp) throws -> KnownTrial? {
        let known = try trials(of: holder)
        guard let id = known.ofUser ?? known.ofDevice, let trial = try trial(id), trial.startedAt >= since else { return nil }
        return KnownTrial(trial: trial, isDeviceKnown: known.ofDevice != nil, isUserKnown: holder.user == nil || known.ofUser != nil)
    }

    fileprivate func forgetTrials(of holder: TrialHolder, before since: Timestamp) throws {
        let known = try trials(of: holder)
        for id in [known.ofDevice, known.ofUser].compactMap(\.self) {
            try run("DELETE FROM trial WHERE id = ? AND started_at_ms < ?", [id, since])
        }
    }

    private func trials(of holder: TrialHolder) throws -> (ofDevice: TrialID?, ofUser: TrialID?) {
        let (requestor, mvpd) = (holder.key.requestor, holder.mvpd)
        let ofDevice: TrialID? = try value(
            "SELECT trial FROM trial_device WHERE requestor = ? AND mvpd = ? AND device_id = ?", [requestor, mvpd, holder.key.device])
        var ofUser: TrialID?
        if let user = holder.user {
            ofUser = try value("SELECT trial FROM trial_user WHERE requestor = ? AND mvpd = ? AND \"user\" = ?", [requestor, mvpd, user])
        }
        return (ofDevice, ofUser)
    }

    fileprivate func outcome(of play: TrialPlay, since: Timestamp, now: Timestamp) throws -> TrialPlay.Outcome {
        let sessions = play.session == nil ? [] : try sessions(play.holder.key)
        return play.outcome(sessions: sessions, known: try trial(of: play.holder, since: since), now: now)
    }

    fileprivate func store(_ permit: TrialPlay.Permit, of play: TrialPlay, now: Timestamp) throws {
        let (trial, holder) = (permit.trial, play.holder)
        let (requestor, mvpd) = (holder.key.requestor, holder.mvpd)
        try run(
            "INSERT INTO trial (id, requestor, mvpd, started_at_ms, expires_at_ms) VALUES (?, ?, ?, ?, ?) ON CONFLICT (id) DO NOTHING",
            [trial.id, requestor, mvpd, trial.startedAt, trial.expiresAt])
        try run(
            """
            INSERT INTO trial_device (requestor, mvpd, device_id, trial) VALUES (?, ?, ?, ?) ON CONFLICT (requestor, mvpd, device_id) DO NOTHING
            """, [requestor, mvpd, holder.key.device, trial.id])
        if let user = holder.user {
            try run(
                "INSERT INTO trial_user (requestor, mvpd, \"user\", trial) VALUES (?, ?, ?, ?) ON CONFLICT (requestor, mvpd, \"user\") DO NOTHING",
                [requestor, mvpd, user, trial.id])
        }
        if trial.resources.contains(play.resource) {
            try run(
                """
                INSERT INTO trial_resource (trial, resource, used_at_ms, number)
                VALUES (?1, ?2, ?3, coalesce((SELECT max(number) + 1 FROM trial_resource WHERE trial = ?1), 0))
                ON CONFLICT (trial, resource) DO NOTHING
                """, [trial.id, play.resource, now])
        }
        if let session = permit.session {
            try run("UPDATE session SET trial = ?, expires_at_ms = ? WHERE id = ?", [trial.id, session.expiresAt, session.id])
        }
    }
}
