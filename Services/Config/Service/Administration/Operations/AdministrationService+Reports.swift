internal import Catalogue
public import ContractRuntime
public import Contracts
internal import Faults

extension AdministrationService {
    public func getReport(_ request: GetReportRequest, context: CallContext) async throws -> CatalogueReport {
        let rights = try await rights(request.token, .read)
        switch request.kind {
        case .authnTtl, .authzTtl, .sso: break
        case .unknown, .unrecognized: throw Fault(.invalidRequest, "The report is not known.")
        }
        // Another copy may have pushed a moment ago.
        let catalogue = Catalogue(try await publisher.read { try $0.newestConfiguration() })
        for id in request.requestorIDs {
            guard let requestor = catalogue.requestor(id), rights.sees(programmer: requestor.programmerID) else { throw Fault.notFound("requestor") }
        }
        for id in request.mvpdIDs where catalogue.mvpd(id) == nil { throw Fault.notFound("MVPD") }
        let builder = ReportBuilder(kind: request.kind)
        let rows = integrations(request, rights, catalogue).map { builder.row($0, $1) }
        return CatalogueReport(columns: ReportBuilder.columns.map(\.key), rows: rows)
    }

    private func integrations(_ request: GetReportRequest, _ rights: Rights, _ catalogue: Catalogue) -> [(Integration, Mvpd)] {
        let requestors = Set(request.requestorIDs)
        let mvpds = Set(request.mvpdIDs)
        return catalogue.configuration.integrations.compactMap { integration in
            guard requestors.isEmpty || requestors.contains(integration.requestorID), mvpds.isEmpty || mvpds.contains(integration.mvpdID),
                let requestor = catalogue.requestor(integration.requestorID), rights.sees(programmer: requestor.programmerID),
                let mvpd = catalogue.mvpd(integration.mvpdID)
            else { return nil }
            return (integration, mvpd)
        }
    }
}
