internal import FoundationEssentials
internal import HTTPTypes
internal import Hummingbird
internal import SandboxKit
internal import Synchronization

/// The faults that wait for calls.
final class VendorFaults: Sendable {
    static let limit = 1000

    struct Waiting: Sendable, Codable, Equatable {
        let operations: [VendorOperation]
        var fault: VendorFault
    }

    private let queue = Mutex<[Waiting]>([])

    func append(_ faults: [Waiting]) throws(SettingsFault) {
        try queue.withLock { queue throws(SettingsFault) in
            guard queue.count + faults.count <= Self.limit else {
                throw SettingsFault(key: "faults", problem: "would be more than \(Self.limit)")
            }
            queue += faults
        }
    }

    /// Forgets the faults of one operation, or all.
    func reset(_ operation: VendorOperation? = nil) {
        queue.withLock { queue in queue.removeAll { waiting in operation.map { waiting.operations == [$0] } ?? true } }
    }

    var waiting: [Waiting] { queue.withLock { $0 } }

    /// The first fault that fits the call; counts that call.
    func take(_ call: VendorCall) -> VendorFault? {
        queue.withLock { queue in
            guard let index = queue.firstIndex(where: { $0.operations.contains(call.operation) && $0.fault.fits(call) }) else { return nil }
            if let after = queue[index].fault.after, after > 0 {
                queue[index].fault.after = after - 1
                return nil
            }
            let fault = queue[index].fault
            let times = fault.times ?? 1
            if times == 1 {
                queue.remove(at: index)
            } else if times > 1 {
                queue[index].fault.times = times - 1
            }
            return fault
        }
    }
}

/// One fault that tests can set for operations of the stand-in vendor.
struct VendorFault: Sendable, Codable, Equatable {
    enum Kind: String, Sendable, Codable {
        /// Answers `status` with `headers` and `body` instead, and does nothing.
        case answer
        /// Answers the enhanced error `code` as a whole.
        case error
        /// Does what it should, and changes members of the answer by `merge` (RFC 7396).
        case merge
        /// Does what it should, after `milliseconds`.
        case delay
        /// Never answers and does nothing.
        case hang
        /// Does what it should, and never answers.
        case applyThenHang
        /// Resets the connection and does nothing.
        case reset
        /// Does what it should, and resets the connection.
        case applyThenReset
        /// Does what it should, sends half of the answer and closes the connection.
        case truncate

        var hangs: Bool { self == .hang || self == .applyThenHang }
        var resets: Bool { self == .reset || self == .applyThenReset }
        var applies: Bool { [.applyThenHang, .applyThenReset, .truncate, .merge, .delay].contains(self) }
    }

    static let longestDelay = 600_000
    static let longestBody = 16 * 1024 * 1024

    let kind: Kind
    /// The status of `answer` and of an `error` that the table lacks.
    var status: Int?
    var headers: [String: String]?
    var body: String?
    /// In place of `body`: octets that are no text.
    var bodyBase64: String?
    /// The body is filled with blanks to so many octets.
    var padTo: Int?
    var code: String?
    var action: String?
    var details: String?
    var merge: JsonValue?
    var milliseconds: Int?
    /// Only calls of this service provider, MVPD or device; nil: all.
    var serviceProvider: String?
    var mvpd: String?
    var device: String?
    /// So many calls pass first; default 0.
    var after: Int?
    /// The number of calls that it affects; 0: all; default 1.
    var times: Int?

    func check(_ key: String) throws(SettingsFault) {
        if kind == .answer, !(200...599).contains(status ?? 0) { throw SettingsFault(key: "\(key).status", problem: "is not from 200 to 599") }
        if kind == .error, code?.isEmpty ?? true { throw SettingsFault(key: "\(key).code", problem: "is missing") }
        if kind == .merge, merge == nil { throw SettingsFault(key: "\(key).merge", problem: "is missing") }
        if kind == .delay { try VendorBehaviour.check(milliseconds ?? 0, "\(key).milliseconds", 1...Self.longestDelay) }
        if let status, !(200...599).contains(status) { throw SettingsFault(key: "\(key).status", problem: "is not from 200 to 599") }
        if let bodyBase64, Base64.octets(bodyBase64) == nil { throw SettingsFault(key: "\(key).bodyBase64", problem: "is no Base64") }
        try VendorBehaviour.check(padTo ?? 0, "\(key).padTo", 0...Self.longestBody)
        try VendorBehaviour.check(times ?? 1, "\(key).times", 0...1_000_000)
        try VendorBehaviour.check(after ?? 0, "\(key).after", 0...1_000_000)
    }

    func fits(_ call: VendorCall) -> Bool {
        if let serviceProvider, call.parameter("sp") != serviceProvider { return false }
        if let mvpd, call.parameter("mvpd") != mvpd { return false }
        guard let device else { return true }
        return (try? DeviceIdentifier(header: call.header("ap-device-identifier")))?.octets == Array(device.utf8)
    }
}

extension VendorFault {
    /// The answer that goes out in place of the genuine one.
    /// - Parameter genuine: Empty where nothing was done.
    func answer(in genuine: VendorAnswer) throws -> VendorAnswer {
        var answer = genuine
        switch kind {
        case .answer: answer = scripted
        case .error:
            let known = code.flatMap(VendorErrorCode.init).flatMap { status == nil && action == nil ? $0 : nil }
            let problem =
                known.map { VendorProblem($0, details: details) }
                ?? VendorProblem(code: code ?? "", status: status ?? 400, action: action ?? "none", details: details)
            answer = try VendorRefusal(problem).answer()
        case .merge:
            if let merge, let document = try? JSONDecoder().decode(JsonValue.self, from: Data(genuine.body)) {
                answer.body = try VendorAnswer.encoded(document.merged(with: merge))
            }
        case .delay, .hang, .applyThenHang, .reset, .applyThenReset, .truncate: break
        }
        if let padTo, answer.body.count < padTo { answer.body += [UInt8](repeating: UInt8(ascii: " "), count: padTo - answer.body.count) }
        return answer
    }

    private var scripted: VendorAnswer {
        var fields: HTTPFields = [:]
        for (name, value) in headers ?? [:] { if let name = HTTPField.Name(name) { fields[name] = value } }
        let octets = bodyBase64.flatMap(Base64.octets) ?? Array((body ?? "").utf8)
        if !octets.isEmpty, fields[.contentType] == nil { fields[.contentType] = "application/json;charset=UTF-8" }
        return VendorAnswer(status: status ?? 500, headers: fields, body: octets, outcome: "scripted")
    }
}

extension JsonValue {
    /// A JSON merge patch (RFC 7396 §2): null removes a member.
    func merged(with patch: JsonValue) -> JsonValue {
        guard case .object(let changes) = patch else { return patch }
        var members: [String: JsonValue] = [:]
        if case .object(let own) = self { members = own }
        for (name, change) in changes {
            members[name] = change == .null ? nil : (members[name] ?? .null).merged(with: change)
        }
        return .object(members)
    }
}

/// Service providers, MVPDs and integrations under control.
struct VendorCatalogueControl: Sendable {
    private typealias Message = VendorControlMessages

    private struct Listing: Encodable {
        let serviceProviders: [VendorCatalogue.ServiceProvider]
        let mvpds: [VendorCatalogue.Mvpd]
        let integrations: [VendorCatalogue.Integration]
    }

    let memory: VendorMemory

    func add(to control: RouterGroup<SandboxContext>) {
        control.get("/catalogue") { _, _ in
            let catalogue = memory.access { $0.catalogue }
            return try ControlReader.json(
                Listing(serviceProviders: catalogue.serviceProviders, mvpds: catalogue.mvpds, integrations: catalogue.integrations))
        }
        control.put("/service-providers/{id}") { request, context in
            let message = try await ControlReader.read(Message.ServiceProvider.self, request)
            try set(serviceProvider: try context.parameters.require("id"), message)
            return HTTPResponse.Status.noContent
        }
        control.put("/mvpds/{id}") { request, context in
            let message = try await ControlReader.read(Message.Mvpd.self, request)
            try set(mvpd: try context.parameters.require("id"), message)
            return HTTPResponse.Status.noContent
        }
        control.put("/integrations/{serviceProvider}/{mvpd}") { request, context in
            let message = try await ControlReader.read(Message.Integration.self, request)
            let (serviceProvider, mvpd) = (try context.parameters.require("serviceProvider"), try context.parameters.require("mvpd"))
            try ControlReader.checked {
                try memory.access { state in
                    var integration =
                        state.catalogue.integration(serviceProvider, mvpd)
                        ?? VendorCatalogue.Integration(serviceProvider: serviceProvider, mvpd: mvpd)
                    try integration.change(message)
                    try state.catalogue.set(integration)
                }
            }
            return HTTPResponse.Status.noContent
        }
    }

    /// Sets what the message names; the rest stays.
    private func set(serviceProvider id: String, _ message: Message.ServiceProvider) throws {
        try ControlReader.checked {
            try memory.access { state in
                let old = state.catalogue.serviceProvider(id)
                try state.catalogue.set(
                    VendorCatalogue.ServiceProvider(
                        id: id, name: message.name ?? old?.name ?? id, domains: message.domains ?? old?.domains ?? [],
                        redirectHosts: message.redirectHosts ?? old?.redirectHosts ?? []))
            }
        }
    }

    private func set(mvpd id: String, _ message: Message.Mvpd) throws {
        try ControlReader.checked {
            if let terms = message.tempPass {
                try VendorBehaviour.check(terms.seconds, "tempPass.seconds", 1...31_536_000)
                try VendorBehaviour.check(terms.resources ?? 1, "tempPass.resources", 1...10_000)
            }
            try memory.access { state in
                let old = state.catalogue.mvpd(id)
                try state.catalogue.set(
                    VendorCatalogue.Mvpd(
                        id: id, displayName: message.displayName ?? old?.displayName ?? id, logoUrl: message.logoUrl ?? old?.logoUrl,
                        hasLogout: message.hasLogout ?? old?.hasLogout ?? false, tempPass: message.tempPass ?? old?.tempPass,
                        isProxy: message.isProxy ?? old?.isProxy ?? false, proxyMvpd: message.proxyMvpd ?? old?.proxyMvpd,
                        platformMappingId: message.platformMappingId ?? old?.platformMappingId,
                        boardingStatus: message.boardingStatus ?? old?.boardingStatus))
            }
        }
    }
}
