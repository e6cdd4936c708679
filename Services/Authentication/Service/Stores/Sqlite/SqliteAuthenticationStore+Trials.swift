internal import Clocks
internal import Faults
internal import Storage

extension SqliteAuthenticationStore: TrialStore {
    func start(_ preview: FreePreview, now: Timestamp) async throws(Fault) -> FreePreviewResult {
        defer { noteStart(of: preview.session) }
        return try await store.write { database in
            guard let session = preview.session(continuing: try database.trial(of: preview.holder), now: now) else { return .usedUp }
            if let record = session.record, try !database.use(record, now: now) { return .codeGone }
            try session.insert(into: database)
            return .started(session)
        }
    }

    func spend(_ play: TrialPlay, now: Timestamp) async throws(Fault) -> TrialPlay.Outcome {
        // Most plays are refused or repeat an earlier one: they need no commit.
        let outcome = try await store.read { try $0.outcome(of: play, now: now) }
        guard case .permitted(let permit) = outcome, !permit.changesNothing else { return outcome }
        defer { sessions.forget(play.holder.key) }
        return try await store.write { database in
            let outcome = try database.outcome(of: play, now: now)
            if case .permitted(let permit) = outcome, !permit.changesNothing { try database.store(permit, of: play, now: now) }
            return outcome
        }
    }

    func trial(_ id: TrialID) async throws(Fault) -> Trial? {
        try await store.read { try $0.trial(id) }
    }

    func reset(_ scope: TrialScope, requestor: RequestorID, mvpd: MvpdID) async throws(Fault) -> Int {
        try await store.write { database in
            let trials = "DELETE FROM trial WHERE requestor = ? AND mvpd = ?"
            switch scope {
            case .all:
                try database.execute(sql: trials, arguments: [requestor, mvpd])
            case .device(let device):
                let ids = "SELECT trial FROM trial_device WHERE requestor = ? AND mvpd = ? AND device_id = ?"
                try database.execute(sql: "\(trials) AND id IN (\(ids))", arguments: [requestor, mvpd, requestor, mvpd, device])
            case .users:
                let ids = "SELECT trial FROM trial_user WHERE requestor = ? AND mvpd = ?"
                try database.execute(sql: "\(trials) AND id IN (\(ids))", arguments: [requestor, mvpd, requestor, mvpd])
            case .user(let user):
                let ids = "SELECT trial FROM trial_user WHERE requestor = ? AND mvpd = ? AND user = ?"
                try database.execute(sql: "\(trials) AND id IN (\(ids))", arguments: [requestor, mvpd, requestor, mvpd, user])
            }
            return database.changesCount
        }
    }
}

extension Database {
    fileprivate func trial(_ id: TrialID) throws -> Trial? {
        let sql = "SELECT id, started_at_ms, expires_at_ms FROM trial WHERE id = ?"
        guard let row = try Row.fetchOne(cachedStatement(sql: sql), arguments: [id]) else { return nil }
        let used = "SELECT resource FROM trial_resource WHERE trial = ? ORDER BY rowid"
        let resources = try String.fetchAll(cachedStatement(sql: used), arguments: [id])
        return Trial(id: row["id"], startedAt: row["started_at_ms"], expiresAt: row["expires_at_ms"], resources: resources)
    }

    fileprivate func trial(of holder: TrialHolder) throws -> KnownTrial? {
        let (requestor, mvpd) = (holder.key.requestor, holder.mvpd)
        let byDevice = "SELECT trial FROM trial_device WHERE requestor = ? AND mvpd = ? AND device_id = ?"
        let ofDevice = try TrialID.fetchOne(cachedStatement(sql: byDevice), arguments: [requestor, mvpd, holder.key.device])
        var ofUser: TrialID?
        if let user = holder.user {
            let byUser = "SELECT trial FROM trial_user WHERE requestor = ? AND mvpd = ? AND user = ?"
            ofUser = try TrialID.fetchOne(cachedStatement(sql: byUser), arguments: [requestor, mvpd, user])
        }
        guard let id = ofUser ?? ofDevice, let trial = try trial(id) else { return nil }
        return KnownTrial(trial: trial, isDeviceKnown: ofDevice != nil, isUserKnown: holder.user == nil || ofUser != nil)
    }

    fileprivate func outcome(of play: TrialPlay, now: Timestamp) throws -> TrialPlay.Outcome {
        play.outcome(session: try session(play.holder.key), known: try trial(of: play.holder), now: now)
    }

    fileprivate func store(_ permit: TrialPlay.Permit, of play: TrialPlay, now: Timestamp) throws {
        let (trial, holder) = (permit.trial, play.holder)
        let (requestor, mvpd) = (holder.key.requestor, holder.mvpd)
        try cachedStatement(
            sql: "INSERT INTO trial (id, requestor, mvpd, started_at_ms, expires_at_ms) VALUES (?, ?, ?, ?, ?) ON CONFLICT DO NOTHING"
        )
        .execute(arguments: [trial.id, requestor, mvpd, trial.startedAt, trial.expiresAt])
        try cachedStatement(sql: "INSERT INTO trial_device (requestor, mvpd, device_id, trial) VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING")
            .execute(arguments: [requestor, mvpd, holder.key.device, trial.id])
        if let user = holder.user {
            try cachedStatement(sql: "INSERT INTO trial_user (requestor, mvpd, user, trial) VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING")
                .execute(arguments: [requestor, mvpd, user, trial.id])
        }
        if trial.resources.contains(play.resource) {
            try cachedStatement(sql: "INSERT INTO trial_resource (trial, resource, used_at_ms) VALUES (?, ?, ?) ON CONFLICT DO NOTHING")
                .execute(arguments: [trial.id, play.resource, now])
        }
        let sql = "UPDATE session SET trial = ?, expires_at_ms = ? WHERE device_id = ? AND requestor = ?"
        try cachedStatement(sql: sql).execute(arguments: [trial.id, permit.session.expiresAt, holder.key.device, requestor])
    }
}
