internal import CPostgres
internal import Glibc
internal import Storage

/// A connection to the server, for one thread at a time. Commands go out in one piece, and the answers are then read: a round trip, however many
/// statements there are.
final class PostgresConnection {
    /// A statement with its arguments.
    struct Command {
        let text: String
        let arguments: Arguments
        /// True when the server is to answer it, and those before it, before it goes on.
        let isFlushed: Bool

        init(_ statement: Statement, _ arguments: Arguments = [], isFlushed: Bool = false) {
            text = statement.postgres
            self.arguments = arguments
            self.isFlushed = isFlushed
        }
    }

    /// The outcome of a command.
    enum Outcome {
        case rows(PostgresRows)
        case failed(PostgresError)
        /// One before it failed.
        case skipped
    }

    /// A statement that the server has prepared, for arguments of these types.
    private struct Form {
        let name: String
        let types: [Oid]
        var isPrepared: Bool
    }

    private enum Sent {
        case preparation(text: String, form: Int)
        case execution
    }

    let descriptor: CInt
    /// Where it leads to, as the settings have it.
    let host: PostgresOptions.Host
    /// The start of the server there. By it the server is told from all others, and from itself before it failed; empty where the engine does not
    /// tell.
    var server = ""
    private let connection: OpaquePointer
    private let isPreparing: Bool
    private var forms: [String: [Form]] = [:]
    private var prepared = 0
    private var sent: [Sent] = []
    /// False after an error of the connection itself: it is of no more use.
    private(set) var isUsable = true
    /// The server's answers since the last `run` began, also where that was lost.
    private(set) var answered: [Outcome] = []

    /// - Parameter connection: Open, without anything under way; finished with this.
    init(_ connection: OpaquePointer, host: PostgresOptions.Host, isPreparing: Bool) throws {
        self.connection = connection
        self.host = host
        self.isPreparing = isPreparing
        descriptor = PQsocket(connection)
        guard PQsetnonblocking(connection, 1) == 0, PQenterPipelineMode(connection) == 1 else { throw lost() }
    }

    deinit { PQfinish(connection) }

    /// Runs statements one after another; when one fails, those behind it are skipped. Outside of a transaction they are one.
    /// - Parameter timeout: Without a word from the server for so long, the connection is lost.
    /// - Throws: `PostgresError` when the connection is lost: nobody knows what was done.
    func run(_ commands: [Command], timeout: Duration) throws -> [Outcome] {
        do {
            sent.removeAll(keepingCapacity: true)
            answered.removeAll(keepingCapacity: true)
            for command in commands { try send(command) }
            guard PQpipelineSync(connection) == 1 else { throw lost() }
            try flush(timeout)
            try answers(timeout)
            return answered
        } catch {
            isUsable = false
            throw error
        }
    }

    /// Runs statements of a schema, with semicolons between them.
    /// - Throws: `PostgresError`.
    func run(script: String) throws {
        guard PQexitPipelineMode(connection) == 1 else { throw lost() }
        defer { if PQenterPipelineMode(connection) != 1 { isUsable = false } }
        guard let result = PQexec(connection, script) else { throw lost() }
        let rows = PostgresRows(result)
        switch rows.status {
        case PGRES_COMMAND_OK, PGRES_TUPLES_OK, PGRES_EMPTY_QUERY: return
        default: throw rows.error
        }
    }

    /// Lends the connection for what is no statement with arguments: copying, and scripts.
    func direct<Result>(_ body: (OpaquePointer) throws -> Result) throws -> Result {
        guard PQexitPipelineMode(connection) == 1, PQsetnonblocking(connection, 0) == 0 else { throw lost() }
        defer { if PQsetnonblocking(connection, 1) != 0 || PQenterPipelineMode(connection) != 1 { isUsable = false } }
        return try body(connection)
    }

    /// To be called when the server has said something while nothing was under way: mostly that it goes.
    func takeNotice() {
        // The end of the connection comes behind the words, and needs a look of its own.
        repeat {
            guard PQconsumeInput(connection) == 1, PQstatus(connection) == CONNECTION_OK else {
                isUsable = false
                return
            }
            while let notification = PQnotifies(connection) { PQfreemem(notification) }
        } while hasWord
    }

    /// True when something has come from the server that was not read yet, or it has ended the connection.
    private var hasWord: Bool { pollOne(descriptor, CInt(POLLIN), .zero) != nil }

    /// To be called before a connection is used that nothing was asked by for a while. A server that ends one (`idle_session_timeout`, `pg_terminate_backend`, a pooler)
    /// says so, and closes it a moment later: what is sent by it meanwhile is lost. So one by which anything has come is given up, before anything is sent.
    func giveUpIfSpoken() { if isUsable, hasWord { giveUp() } }

    /// It is of no more use; `lost` says what the server said last.
    func giveUp() {
        if isUsable { takeNotice() }
        isUsable = false
    }

    /// The fault of the connection.
    func lost(_ otherwise: String = "the server closed the connection") -> PostgresError {
        let message = String(cString: PQerrorMessage(connection)).split(separator: "\n").first.map(String.init)
        return .lost(message ?? otherwise)
    }

    // MARK: Sending

    private func send(_ command: Command) throws {
        try sendUnflushed(command)
        if command.isFlushed, PQsendFlushRequest(connection) != 1 { throw lost() }
    }

    private func sendUnflushed(_ command: Command) throws {
        let types = command.arguments.values.map(Oids.of)
        guard isPreparing else {
            let text = numberedPlaces(command.text)
            try bound(command.arguments) { values, lengths, formats in
                PQsendQueryParams(connection, text, CInt(types.count), types, values, lengths, formats, 1)
            }
            sent.append(.execution)
            return
        }
        let name = try prepare(command.text, types)
        try bound(command.arguments) { values, lengths, formats in
            PQsendQueryPrepared(connection, name, CInt(types.count), values, lengths, formats, 1)
        }
        sent.append(.execution)
    }

    /// - Returns: The name of the prepared statement that takes arguments of these types.
    private func prepare(_ text: String, _ types: [Oid]) throws -> String {
        let known = forms[text] ?? []
        // NULL has no type, and fits all.
        if let index = known.firstIndex(where: { form in
            form.types.count == types.count && zip(form.types, types).allSatisfy { $1 == Oids.unknown || $0 == $1 }
        }) {
            if known[index].isPrepared { return known[index].name }
            return try prepare(text, known[index], at: index)
        }
        // A value that was NULL before, or is now, has the type that it had.
        let last = known.last { $0.types.count == types.count }
        let merged = types.indices.map { types[$0] != Oids.unknown ? types[$0] : last?.types[$0] ?? Oids.unknown }
        prepared += 1
        return try prepare(text, Form(name: "s\(prepared)", types: merged, isPrepared: false), at: known.count)
    }

    private func prepare(_ text: String, _ form: Form, at index: Int) throws -> String {
        guard PQsendPrepare(connection, form.name, numberedPlaces(text), CInt(form.types.count), form.types) == 1 else { throw lost() }
        sent.append(.preparation(text: text, form: index))
        var form = form
        form.isPrepared = true
        var known = forms[text] ?? []
        if index < known.count { known[index] = form } else { known.append(form) }
        forms[text] = known
        return form.name
    }

    /// Lends the arguments in binary form.
    private func bound(
        _ arguments: Arguments,
        _ body: (UnsafePointer<UnsafePointer<CChar>?>?, UnsafePointer<CInt>?, UnsafePointer<CInt>?) -> CInt
    ) throws {
        let values = arguments.values
        let isSent = withUnsafeTemporaryAllocation(of: UInt8.self, capacity: arguments.binaryOctets + 1) { octets in
            withUnsafeTemporaryAllocation(of: UnsafePointer<CChar>?.self, capacity: values.count + 1) { places in
                withUnsafeTemporaryAllocation(of: CInt.self, capacity: 2 * values.count + 1) { numbers in
                    var used = 0
                    for (index, value) in values.enumerated() {
                        let count = value.write(to: UnsafeMutableBufferPointer(rebasing: octets[used...]))
                        places.initializeElement(
                            at: index,
                            to: count.flatMap { _ in octets.baseAddress.map { UnsafeRawPointer($0 + used).assumingMemoryBound(to: CChar.self) } })
                        numbers.initializeElement(at: index, to: CInt(count ?? 0))
                        numbers.initializeElement(at: values.count + index, to: 1)
                        used += count ?? 0
                    }
                    return body(
                        places.baseAddress.map { UnsafePointer($0) }, numbers.baseAddress.map { UnsafePointer($0) },
                        numbers.baseAddress.map { UnsafePointer($0 + values.count) })
                }
            }
        }
        guard isSent == 1 else { throw lost() }
    }

    private func flush(_ timeout: Duration) throws {
        while true {
            switch PQflush(connection) {
            case 0: return
            case 1:
                let ready = try wait(CInt(POLLIN | POLLOUT), timeout)
                if ready & CInt(POLLIN) != 0, PQconsumeInput(connection) == 0 { throw lost() }
            default: throw lost()
            }
        }
    }

    // MARK: Answers

    private func answers(_ timeout: Duration) throws {
        /// The error of the preparation before an execution.
        var failure: PostgresError?
        for step in sent {
            let rows = try answer(timeout)
            switch step {
            case .preparation(let text, let form):
                guard rows.status != PGRES_COMMAND_OK else { continue }
                forms[text]?[form].isPrepared = false
                if rows.status != PGRES_PIPELINE_ABORTED { failure = rows.error }
            case .execution:
                answered.append(outcome(rows, failure))
                failure = nil
            }
        }
        guard let end = try next(timeout), PQresultStatus(end) == PGRES_PIPELINE_SYNC else { throw lost("the server's answers are out of order") }
        PQclear(end)
    }

    private func outcome(_ rows: PostgresRows, _ failure: PostgresError?) -> Outcome {
        if let failure { return .failed(failure) }
        switch rows.status {
        case PGRES_COMMAND_OK, PGRES_TUPLES_OK, PGRES_EMPTY_QUERY: return .rows(rows)
        case PGRES_PIPELINE_ABORTED: return .skipped
        default: return .failed(rows.error)
        }
    }

    /// The one result of a command, and the end of it.
    private func answer(_ timeout: Duration) throws -> PostgresRows {
        guard let first = try next(timeout) else { throw lost() }
        let rows = PostgresRows(first)
        if rows.status == PGRES_FATAL_ERROR, PQstatus(connection) != CONNECTION_OK || rows.error.isLoss {
            throw rows.error.isLoss ? rows.error : lost()
        }
        guard rows.status != PGRES_PIPELINE_SYNC, try next(timeout) == nil else { throw lost("the server's answers are out of order") }
        return rows
    }

    private func next(_ timeout: Duration) throws -> OpaquePointer? {
        while PQisBusy(connection) == 1 {
            _ = try wait(CInt(POLLIN), timeout)
            guard PQconsumeInput(connection) == 1 else { throw lost() }
        }
        return PQgetResult(connection)
    }

    /// - Returns: The events that the socket is ready for.
    private func wait(_ events: CInt, _ timeout: Duration) throws -> CInt {
        guard let ready = pollOne(descriptor, events, timeout) else { throw PostgresError.silent(timeout) }
        return ready
    }
}

/// Waits until a descriptor is ready.
/// - Returns: For what; `nil`: for nothing, in that time.
func pollOne(_ descriptor: CInt, _ events: CInt, _ timeout: Duration) -> CInt? {
    let end = ContinuousClock.now + timeout
    while true {
        var watched = pollfd(fd: descriptor, events: Int16(truncatingIfNeeded: events), revents: 0)
        let left = ContinuousClock.now.duration(to: end)
        let count = poll(&watched, 1, CInt(max(0, left.wholeMilliseconds)))
        if count > 0 { return CInt(watched.revents) }
        if count == 0 || errno != EINTR { return nil }
    }
}

extension Duration {
    var wholeMilliseconds: Int64 { components.seconds * 1000 + components.attoseconds / 1_000_000_000_000_000 }
}

extension Arguments {
    /// Octets of the values in binary form.
    fileprivate var binaryOctets: Int {
        values.reduce(0) { count, value in
            switch value {
            case .null: count
            case .integer: count + 8
            case .text(let text): count + text.utf8.count
            case .bytes(let bytes): count + bytes.count
            }
        }
    }
}

extension StoredValue {
    /// Writes the value in binary form.
    /// - Returns: Its octets; `nil` for NULL.
    fileprivate func write(to octets: UnsafeMutableBufferPointer<UInt8>) -> Int? {
        switch self {
        case .null: return nil
        case .integer(let number):
            withUnsafeBytes(of: number.bigEndian) { UnsafeMutableRawBufferPointer(octets).copyMemory(from: $0) }
            return 8
        case .text(let text): return octets.initialize(from: text.utf8).index
        case .bytes(let bytes):
            bytes.withUnsafeBytes { UnsafeMutableRawBufferPointer(octets).copyMemory(from: $0) }
            return bytes.count
        }
    }
}
