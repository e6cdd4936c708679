internal import CatalogueFiles
public import ContractRuntime
public import Contracts
internal import Faults

extension AdministrationService {
    /// By the rights and the rules of a push: what somebody could not push, they cannot try out either.
    public func prepareTestSignIn(_ request: PrepareTestSignInRequest, context: CallContext) async throws -> TestSignInPreparation {
        let rights = try await rights(request.token, .edit)
        let secrets = request.secrets ?? SecretInventory()
        let body: @Sendable (CatalogueLedger) throws -> TestSignInPlan = { ledger in
            let draft = try ledger.draft(of: rights)
            let key = EntityKey(.integrations, "\(request.requestorID)/\(request.mvpdID)")
            guard draft.document[key] != nil, rights.sees(key, in: draft.document) else { throw Fault.notFound("integration") }
            let changes = draft.changes
            guard rights.mayMakeAll(of: draft, in: try ledger.newestDocument()) else { throw Fault.insufficientRole }
            let configuration = try DocumentCheck.configuration(of: draft.document, ledger, for: rights)
            let parties = try TestParties(request, in: configuration)
            let named = changes.filter { parties.keys.contains($0.key) }
            let problems = try ledger.secretRules(secrets, rights).problems(named, from: try ledger.newestDocument(), to: draft.document)
            if !problems.isEmpty { throw Refused.invalid(problems).fault }
            let source = changes.isEmpty ? "version \(draft.base.version)" : "the draft"
            try ledger.record(
                .signInTested, by: rights.name, "Test sign-in for \(request.requestorID) at \(request.mvpdID), by \(source)",
                programmers: [parties.requestor.programmerID])
            return TestSignInPlan(configuration: parties.configuration, draftEtag: changes.isEmpty ? "" : draft.etag)
        }
        do {
            await publisher.rehearse(body)
            return TestSignInPreparation(outcome: .plan(try await publisher.write(body)))
        } catch {
            return TestSignInPreparation(outcome: .refusal(try error.refusalOrThrow()))
        }
    }
}

/// Requestor, MVPD and integration of a sign-in, and the proxy that the MVPD is behind.
private struct TestParties {
    let requestor: Requestor
    private let integration: Integration
    private let mvpds: [Mvpd]

    /// - Throws: A `Refused` as its cause when nobody signs in there.
    init(_ request: PrepareTestSignInRequest, in configuration: Configuration) throws(Fault) {
        guard let requestor = configuration.requestors.first(where: { OctetText($0.id) == OctetText(request.requestorID) }),
            let mvpd = configuration.mvpds.first(where: { OctetText($0.id) == OctetText(request.mvpdID) }),
            var integration = configuration.integrations.first(where: {
                OctetText($0.requestorID) == OctetText(request.requestorID) && OctetText($0.mvpdID) == OctetText(request.mvpdID)
            })
        else { throw Fault.notFound("integration") }
        guard integration.bridge == nil else {
            throw Refused.invalid("", "is served by an upstream: the sign-in there is not of this draft").fault
        }
        let proxy = mvpd.isProxied ? configuration.mvpds.first { OctetText($0.id) == OctetText(mvpd.proxyMvpdID) } : nil
        switch mvpd.signIn ?? proxy?.signIn {
        case .saml, .oauth: break
        case .tempPass: throw Refused.invalid("", "is a TempPass: nobody signs in at it").fault
        case nil: throw Refused.invalid("", "has neither saml nor oauth: nobody signs in at it").fault
        }
        // What is to be switched on after the test can be tried before.
        integration.enabled = true
        self.requestor = requestor
        self.integration = integration
        mvpds = [mvpd] + (proxy.map { [$0] } ?? [])
    }

    var configuration: Configuration {
        Configuration(version: 1, requestors: [requestor], mvpds: mvpds, integrations: [integration])
    }

    /// The entries whose changes are tried.
    var keys: Set<EntityKey> {
        Set(mvpds.map { EntityKey(.mvpds, $0.id) } + [EntityKey(.integrations, "\(integration.requestorID)/\(integration.mvpdID)")])
    }
}
