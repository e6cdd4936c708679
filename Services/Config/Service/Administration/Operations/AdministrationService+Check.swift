internal import CatalogueFiles
public import ContractRuntime
public import Contracts
internal import Faults

extension AdministrationService {
    public func checkAdministrator(_ request: CheckAdministratorRequest, context: CallContext) async throws -> Administrator {
        switch request.permission {
        case .read: try await checkReader(request)
        case .resetTempPass: try await checkReset(request)
        case .revokeClient: try await checkRevocation(request)
        case .support: try await checkSupport(request)
        case .personalData: try await checkPersonalData(request)
        case .upstream: try await checkUpstream(request)
        case .unknown, .unrecognized: throw Fault(.invalidRequest, "The permission is not known.")
        }
    }

    private func checkReader(_ request: CheckAdministratorRequest) async throws -> Administrator {
        let rights = try await rights(request.token, .read)
        guard !request.requestorID.isEmpty else { return rights.administrator }
        let document = try await publisher.read { try $0.newestDocument() }
        let key = EntityKey(.requestors, request.requestorID)
        guard document[key] != nil, rights.sees(key, in: document) else { throw Fault.notFound("requestor") }
        return rights.administrator
    }

    /// A foreign requestor is forbidden here, not unknown (dashboard #34).
    private func checkReset(_ request: CheckAdministratorRequest) async throws -> Administrator {
        let rights = try await rights(request.token, .resetTempPass)
        guard !request.requestorID.isEmpty, !request.mvpdID.isEmpty else { throw Fault(.invalidRequest, "Requestor and MVPD are required.") }
        let subject = try subject(request)
        try await publisher.write { ledger in
            let document = try ledger.newestDocument()
            let requestor = EntityKey(.requestors, request.requestorID)
            guard rights.sees(requestor, in: document) else { throw Fault.insufficientRole }
            guard document[EntityKey(.integrations, "\(request.requestorID)/\(request.mvpdID)")] != nil else { throw Fault.notFound("integration") }
            guard document[EntityKey(.mvpds, request.mvpdID)]?["tempPass"] != nil else { throw Fault(.invalidRequest, "The MVPD is no TempPass.") }
            let programmer = document[requestor]?["programmer"]?.text ?? ""
            try ledger.record(
                .tempPassReset, by: rights.name, "TempPass \(request.mvpdID) reset for \(request.requestorID): \(subject)", programmers: [programmer])
        }
        return rights.administrator
    }

    private func checkRevocation(_ request: CheckAdministratorRequest) async throws -> Administrator {
        let rights = try await rights(request.token, .revokeClient)
        let subject = try subject(request)
        guard !subject.isEmpty else { throw Fault(.invalidRequest, "The subject is required.") }
        try await publisher.write { try $0.record(.clientRevoked, by: rights.name, "Client revoked: \(subject)", programmers: []) }
        return rights.administrator
    }

    /// Looking at viewers takes more than reading. A foreign requestor does not exist here.
    private func checkSupport(_ request: CheckAdministratorRequest) async throws -> Administrator {
        let rights = try await rights(request.token, .support)
        let subject = try subject(request)
        let key = EntityKey(.requestors, request.requestorID)
        @Sendable func require(in document: CatalogueDocument) throws(Fault) {
            guard document[key] != nil, rights.sees(key, in: document) else { throw Fault.notFound("requestor") }
        }
        guard !subject.isEmpty else {
            try require(in: try await publisher.read { try $0.newestDocument() })
            return rights.administrator
        }
        try await publisher.write { ledger in
            let document = try ledger.newestDocument()
            try require(in: document)
            let programmer = document[key]?["programmer"]?.text ?? ""
            try ledger.record(.viewerSupport, by: rights.name, "Support at \(request.requestorID): \(subject)", programmers: [programmer])
        }
        return rights.administrator
    }

    /// Recorded before anything is told or erased; the subject never names the person.
    private func checkPersonalData(_ request: CheckAdministratorRequest) async throws -> Administrator {
        let rights = try await rights(request.token, .handlePersonalData)
        let subject = try subject(request)
        guard !subject.isEmpty else { return rights.administrator }
        try await publisher.write { try $0.record(.personalData, by: rights.name, "Personal data: \(subject)", programmers: []) }
        return rights.administrator
    }

    private func checkUpstream(_ request: CheckAdministratorRequest) async throws -> Administrator {
        let rights = try await rights(request.token, .upstream)
        let subject = try subject(request)
        if !subject.isEmpty {
            try await publisher.write { try $0.record(.upstreamOperated, by: rights.name, "Upstream: \(subject)", programmers: []) }
        }
        return rights.administrator
    }

    private func subject(_ request: CheckAdministratorRequest) throws(Fault) -> String {
        guard Prose.isGood(request.subject, 0...200) else {
            throw Fault(.invalidRequest, "The subject must have at most 200 characters, and no control characters.")
        }
        return request.subject
    }
}
