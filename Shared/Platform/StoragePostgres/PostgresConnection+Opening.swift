internal import CPostgres
internal import Foundation
internal import Glibc
internal import Storage

extension PostgresConnection {
    /// The longest that one host may take to let somebody in.
    private static let patience: Duration = .seconds(2)

    /// Connects to the first host that takes writes. Blocks.
    /// - Parameters:
    ///   - program: How operators of the server see it.
    ///   - silent: Called with a host that gives no answer.
    /// - Throws: `PostgresError` saying what is wrong with each host.
    static func open(_ options: PostgresOptions, program: String, silent: (PostgresOptions.Host) -> Void = { _ in }) throws -> PostgresConnection {
        let password = try options.password()
        var problems: [PostgresError] = []
        for host in options.hosts {
            do {
                let connection = try connect(options.parameters(host, password: password, program: program), host, options)
                try connection.requireDurable(options)
                try connection.learnServer()
                return connection
            } catch let error as PostgresError {
                if error.isSilence { silent(host) }
                let isDoubtful = error.message.contains("certificate verify failed")
                let message = isDoubtful ? CertificateVerdict.of(host, options.tls) ?? error.message : error.message
                problems.append(PostgresError(state: error.state, message: "\(host): \(message)"))
            }
        }
        // Lasting faults are told before those that may pass.
        let state = (problems.first { $0.retryPause == nil } ?? problems.first { !$0.state.isEmpty && !$0.isLoss } ?? problems.first)?.state ?? ""
        throw PostgresError(state: state, message: problems.map(\.message).joined(separator: "; "))
    }

    private static func connect(
        _ parameters: [(String, String)], _ host: PostgresOptions.Host, _ options: PostgresOptions
    ) throws -> PostgresConnection {
        guard let started = begin(parameters) else { throw PostgresError.lost("out of memory") }
        do {
            // So that the reason has its code.
            PQsetErrorVerbosity(started, PQERRORS_VERBOSE)
            // Notices, such as that a table is there already, are for nobody; libpq would print them.
            PQsetNoticeReceiver(started, { _, _ in }, nil)
            try finish(started)
            PQsetErrorVerbosity(started, PQERRORS_DEFAULT)
        } catch {
            PQfinish(started)
            throw error
        }
        return try PostgresConnection(started, host: host, isPreparing: options.isPrepared)
    }

    /// - Returns: A connection that has begun; `nil`: no memory is left.
    static func begin(_ parameters: [(String, String)]) -> OpaquePointer? {
        let keys = parameters.map { strdup($0.0) }
        let values = parameters.map { strdup($0.1) }
        defer { for text in keys + values { free(text) } }
        return (keys.map { UnsafePointer($0) } + [nil]).withUnsafeBufferPointer { keys in
            (values.map { UnsafePointer($0) } + [nil]).withUnsafeBufferPointer { PQconnectStartParams(keys.baseAddress, $0.baseAddress, 0) }
        }
    }

    private static func finish(_ connection: OpaquePointer) throws {
        let end = ContinuousClock.now + patience
        var events = CInt(POLLOUT)
        while true {
            guard PQstatus(connection) != CONNECTION_BAD else { throw failure(connection) }
            guard let _ = pollOne(PQsocket(connection), events, ContinuousClock.now.duration(to: end)) else {
                throw PostgresError.silent(patience)
            }
            switch PQconnectPoll(connection) {
            case PGRES_POLLING_OK: return
            case PGRES_POLLING_READING: events = CInt(POLLIN)
            case PGRES_POLLING_WRITING: events = CInt(POLLOUT)
            default: throw failure(connection)
            }
        }
    }

    /// A line like `connection to server at "db-a", port 5432 failed: FATAL:  28P01: password authentication failed for user "authentication"`.
    private static func failure(_ connection: OpaquePointer) -> PostgresError {
        let text = String(cString: PQerrorMessage(connection))
        let line = text.split(separator: "\n").first.map(String.init) ?? "cannot be reached"
        if let match = line.firstMatch(of: /[A-Z]+:  ([0-9A-Z]{5}): (.*)$/) { return PostgresError(state: String(match.1), message: String(match.2)) }
        let message = line.firstMatch(of: /failed: (.*)$/).map { String($0.1) } ?? line
        if line.contains("session is read-only") {
            return PostgresError(state: "25006", message: "takes no writes: it is a standby, or set to be read-only")
        }
        // `channel binding is required, but server did not offer …`, `… required, but server authenticated client without channel binding` and the like.
        if line.contains("channel binding") {
            return PostgresError(
                state: PostgresError.untrusted,
                message: "\(PostgresError.unbound): a pooler? One that you trust with passwords needs storage.tls.channelBinding \"prefer\"")
        }
        // Trust, and what comes of a wrong configuration of it, does not pass by itself.
        let isCut = line.contains("SSL SYSCALL error") || line.contains("SSL connection has been closed")
        if line.contains("certificate") || line.contains("SSL") && !isCut || line.contains("host name") && !line.contains("translate") {
            return PostgresError(state: PostgresError.untrusted, message: message)
        }
        if line.contains("password") { return PostgresError(state: "28000", message: message) }
        return .lost(message)
    }

    /// Which server this is; an engine that is no PostgreSQL need not say so.
    private func learnServer() throws {
        if case .rows(let rows) = try run([Command("SELECT \(Self.serverStart)")], timeout: Self.patience).first {
            server = try rows.first { "\($0.next() as Int64)" } ?? ""
        }
    }

    static var serverStart: String { "CAST(extract(epoch FROM pg_postmaster_start_time()) * 1000000 AS BIGINT)" }

    /// An acknowledged write must stay.
    private func requireDurable(_ options: PostgresOptions) throws {
        let settings = ["server_version_num", "server_encoding", "fsync", "full_page_writes", "synchronous_commit", "synchronous_standby_names"]
        let list = settings.map { "coalesce(current_setting('\($0)', true), '')" }.joined(separator: ", ")
        let rows = try run([Command(Statement("SELECT \(list)"))], timeout: Self.patience).map { outcome throws(PostgresError) in
            switch outcome {
            case .rows(let rows): return rows
            case .failed(let error): throw error
            case .skipped: throw .lost("the server skipped a statement")
            }
        }
        let found = try rows.first?.first { columns in settings.map { _ in columns.next() as String } } ?? []
        func refuse(_ text: String) -> PostgresError { PostgresError(state: "0A000", message: text) }
        guard found.count == settings.count else { throw refuse("does not tell its settings") }
        // An engine that has no such setting is durable in a way of its own.
        guard Int(found[0]) ?? 0 >= 130_000 else { throw refuse("is PostgreSQL \(found[0]); it must be 13 or later") }
        guard found[1] == "UTF8" else { throw refuse("keeps texts as \(found[1]); the database must be made with encoding UTF8") }
        guard ["", "on"].contains(found[2]), ["", "on"].contains(found[3]) else {
            throw refuse("runs with fsync or full_page_writes off, and would lose what it acknowledged")
        }
        guard ["", "on", "remote_apply"].contains(found[4]) else {
            throw refuse("acknowledges before a write is safe: synchronous_commit is \(found[4]), it must be on or remote_apply")
        }
        guard !options.requireStandby || !found[5].isEmpty else {
            throw refuse("waits for no standby: synchronous_standby_names is empty, and storage.requireStandby is set")
        }
    }
}

extension PostgresOptions {
    fileprivate func password() throws -> String {
        guard let passwordFile else { return "" }
        guard let text = try? String(contentsOfFile: passwordFile, encoding: .utf8) else {
            throw PostgresError(state: "28000", message: "the password file \(passwordFile) cannot be read")
        }
        return text.trimmingCharacters(in: .newlines)
    }

    /// All that the environment could say otherwise.
    fileprivate func parameters(_ host: Host, password: String, program: String) -> [(String, String)] {
        var parameters = [
            ("host", host.name), ("port", "\(host.port)"), ("dbname", database), ("user", user), ("password", password),
            ("passfile", "/dev/null/none"),
            ("application_name", "boxoffice-\(program)"), ("client_encoding", "UTF8"), ("gssencmode", "disable"),
            ("target_session_attrs", "read-write"), ("keepalives", "1"), ("keepalives_idle", "5"), ("keepalives_interval", "2"),
            ("keepalives_count", "2"), ("tcp_user_timeout", "5000"),
            ("options", schema.map { "-c search_path=\($0)" } ?? ""),
        ]
        guard let tls else { return parameters + [("sslmode", "disable")] }
        parameters += [("sslmode", "verify-full"), ("sslrootcert", tls.trustAnchors), ("sslcert", tls.certificate ?? ""), ("sslkey", tls.key ?? "")]
        // A server that relays the password's proof to another one is found out.
        if passwordFile != nil, tls.requiresChannelBinding { parameters.append(("channel_binding", "require")) }
        return parameters
    }
}

/// The message of the server, or of the way to it.
struct PostgresError: Error, Sendable {
    /// Five characters; empty where the server said nothing.
    let state: String
    /// Without arguments: the server's first line alone.
    let message: String

    /// The connection is of no more use.
    var isLoss: Bool {
        switch state {
        case "", "25006", "26000", "57P01", "57P02", "57P03", "57P05": true
        default: state.hasPrefix("08")
        }
    }

    var kind: DatabaseError.Kind {
        switch state {
        case "40001", "40P01": .conflict
        case "23505": .duplicate
        case "53100": .full
        case "53200", "53300", "53400", "55P03": .busy
        case "57014", "25P03", "25P04": .late
        default: isLoss ? .unavailable : .other
        }
    }

    /// The longest pause before another try, of what may be over though nobody changes the program or its settings; `nil`: it is not. A password counts, whose file is read
    /// at each try.
    var retryPause: Duration? {
        // The error of a pooler that the settings do not fit.
        if state == "26000" { return nil }
        switch kind {
        // A standby may be promoted at any moment.
        case .unavailable, .conflict: return .milliseconds(2500)
        // Each try is a line in the server's log, or takes room where there is none.
        case .busy, .late, .full, .diskFails: return .seconds(5)
        case .duplicate, .other: return state.hasPrefix("28") ? .seconds(5) : nil
        }
    }

    /// The state of what this side finds wrong with the server's certificate, or with its own. It is none of PostgreSQL's.
    static let untrusted = "BX001"

    static func lost(_ message: String) -> PostgresError { PostgresError(state: "", message: message) }

    static func silent(_ timeout: Duration) -> PostgresError { .lost("\(silence)\(timeout)") }
    private static let silence = "the server did not answer within "

    /// It is there, or was, and says nothing.
    var isSilence: Bool { state.isEmpty && message.hasPrefix(Self.silence) }

    /// - Parameter statement: The statement that ran; empty: nothing did.
    func databaseError(_ statement: String = "") -> DatabaseError {
        let code = state.isEmpty ? "" : "\(state) "
        return DatabaseError(kind, "PostgreSQL: \(code)\(message)" + (statement.isEmpty ? "" : " - while executing `\(statement)`"))
    }
}

extension PostgresError {
    static let unbound = "offers no channel binding"

    /// For whoever starts the program.
    var advice: String {
        switch state {
        case Self.untrusted where message.contains(Self.unbound): message
        case Self.untrusted where message.contains(" expired at "): "cannot be trusted (\(message))"
        case "28P01": "refuses the password (\(message)); check storage.user and storage.passwordFile"
        case _ where state.hasPrefix("28") || state == Self.untrusted:
            "lets nobody in (\(message)); check storage.user, storage.passwordFile and storage.tls, and the server's pg_hba.conf"
        case "3D000": "has no such database (\(message)); make it, or correct storage.database"
        case "42501": "may not be changed by this user (\(message)); a schema that is not up to date needs the right to create tables"
        case "53300": "has no connection left (\(message)); raise max_connections, or lower storage.lanes"
        case "25006": "takes no writes (\(message)); name the primary in storage.hosts"
        case "42P05", "26000":
            "does not keep statements for one connection (\(message)); behind a pooler of transactions set storage.prepared to false"
        case "0A000": "cannot keep the store (\(message))"
        case "": "cannot be reached (\(message)); check storage.hosts, and that the server runs"
        default: "cannot be used (\(state) \(message))"
        }
    }
}
