import ConfigService
import ContractRuntime
import Contracts
import Faults
import Foundation
import Testing

/// The calls of administrators, in short.
extension AdministrationWorld {
    struct Unexpected: Error, CustomStringConvertible { let description: String }

    func get(_ kind: EntityKind, _ id: String, as who: Who = .olga) async throws -> CatalogueEntity {
        try await service.getEntity(GetEntityRequest(token: who.token, kind: kind, id: id), context: CallContext())
    }

    func list(_ kind: EntityKind, _ query: String = "", as who: Who = .olga) async throws -> EntityPage {
        try await service.listEntities(ListEntitiesRequest(token: who.token, kind: kind, query: query), context: CallContext())
    }

    @discardableResult
    func create(_ kind: EntityKind, _ json: String, as who: Who = .olga) async throws -> EntityOutcome.Outcome {
        let request = CreateEntityRequest(token: who.token, kind: kind, json: json)
        return try #require(try await service.createEntity(request, context: CallContext()).outcome)
    }

    /// Replaces an entry by what the closure makes of it.
    @discardableResult
    func edit(
        _ kind: EntityKind, _ id: String, as who: Who = .olga, ifMatch: String? = nil, _ body: (inout [String: Any]) -> Void
    ) async throws -> EntityOutcome.Outcome {
        let entity = try await get(kind, id, as: who)
        let read = try JSONSerialization.jsonObject(with: Data(entity.json.utf8)) as? [String: Any]
        var members = try #require(read)
        body(&members)
        let json = String(decoding: try JSONSerialization.data(withJSONObject: members), as: UTF8.self)
        let request = ReplaceEntityRequest(token: who.token, kind: kind, id: id, json: json, ifMatch: ifMatch ?? entity.etag)
        return try #require(try await service.replaceEntity(request, context: CallContext()).outcome)
    }

    @discardableResult
    func delete(_ kind: EntityKind, _ id: String, as who: Who = .olga, ifMatch: String = "*") async throws -> EntityOutcome.Outcome {
        let request = DeleteEntityRequest(token: who.token, kind: kind, id: id, ifMatch: ifMatch)
        return try #require(try await service.deleteEntity(request, context: CallContext()).outcome)
    }

    func draft(_ who: Who = .olga) async throws -> CatalogueDraft {
        try await service.getDraft(GetDraftRequest(token: who.token), context: CallContext())
    }

    @discardableResult
    func push(_ description: String = "a change", as who: Who = .olga) async throws -> PushOutcome.Outcome {
        let request = PushDraftRequest(token: who.token, description: description)
        return try #require(try await service.pushDraft(request, context: CallContext()).outcome)
    }

    func drop(_ number: UInt32, as who: Who = .olga) async throws -> DraftOutcome.Outcome {
        try #require(try await service.dropChange(DropChangeRequest(token: who.token, number: number), context: CallContext()).outcome)
    }

    func versions(_ who: Who = .olga) async throws -> [CatalogueVersion] {
        try await service.listVersions(ListVersionsRequest(token: who.token), context: CallContext()).versions
    }

    func compare(_ old: UInt64, _ new: UInt64, as who: Who = .olga) async throws -> [CatalogueChange] {
        let request = CompareVersionsRequest(token: who.token, oldVersion: old, newVersion: new)
        return try await service.compareVersions(request, context: CallContext()).changes
    }

    func audit(_ who: Who = .olga) async throws -> [AuditRecord] {
        try await service.listAuditRecords(ListAuditRecordsRequest(token: who.token), context: CallContext()).records
    }

    func verdict() async throws -> HistoryVerdict {
        try await service.verifyHistory(VerifyHistoryRequest(token: Who.olga.token), context: CallContext())
    }

    func requestorName(_ id: String) -> String? { published.configuration.requestors.first { $0.id == id }?.name }
}

extension EntityOutcome.Outcome {
    @discardableResult
    func changed() throws -> EntityChanged {
        guard case .changed(let changed) = self else { throw AdministrationWorld.Unexpected(description: "\(self)") }
        return changed
    }

    var refusal: Refusal? { if case .refusal(let refusal) = self { refusal } else { nil } }
}

extension PushOutcome.Outcome {
    @discardableResult
    func version() throws -> CatalogueVersion {
        guard case .version(let version) = self else { throw AdministrationWorld.Unexpected(description: "\(self)") }
        return version
    }

    func pending() throws -> PendingPush {
        guard case .pending(let push) = self else { throw AdministrationWorld.Unexpected(description: "\(self)") }
        return push
    }

    var refusal: Refusal? { if case .refusal(let refusal) = self { refusal } else { nil } }
}

/// The code of the fault that a call ends with; `nil` when it ends without.
func code(_ call: () async throws -> some Any) async throws -> Fault.Code? {
    do {
        _ = try await call()
        return nil
    } catch let fault as Fault {
        return fault.code
    }
}
