internal import Contracts
internal import GatewayEdge
internal import Hummingbird

/// Everything about a person, for those who answer for it. Ids come in the body: an address is written down in too many places.
struct PeopleEndpoints: Sendable {
    static let path = "/admin/v1/people"
    private static let longest = 512

    let desk: PeopleDesk

    @Sendable func export(_ exchange: Exchange) async throws -> Response {
        let token = try exchange.administrator()
        let found = try await desk.export(try Self.selector(exchange), by: token, exchange)
        let services = found.records.map { service, records in
            Document.Member(
                service,
                .object([
                    .init("tables", .object(records.tables.map { .init($0.name, .json("[\($0.rows.joined(separator: ","))]")) })),
                    .init("more", .flag(records.hasMore)), .init("remainders", Self.remainders(records.remainders)),
                ]))
        }
        return Response(Document("person", [.init("people", Self.people(found.person.people)), .init("services", .object(services))]), format: .json)
    }

    @Sendable func erase(_ exchange: Exchange) async throws -> Response {
        let token = try exchange.administrator()
        let (person, erased) = try await desk.erase(try Self.selector(exchange), by: token, exchange)
        let told = erased + [("config", Self.nothing(PeopleDesk.config)), ("gateway", Self.nothing(PeopleDesk.gateway))]
        let services = told.map { service, records in
            Document.Member(
                service,
                .object([
                    .init("erased", .object(records.tables.map { .init($0.name, .number(UInt64($0.rows))) })),
                    .init("remainders", Self.remainders(records.remainders)),
                ]))
        }
        return Response(Document("erasure", [.init("people", Self.people(person.people)), .init("services", .object(services))]), format: .json)
    }

    private static func nothing(_ records: PersonRecords) -> ErasedRecords { ErasedRecords(remainders: records.remainders) }

    private static func selector(_ exchange: Exchange) throws -> PersonSelector {
        let (mvpd, ids) = try AdministrationBody.object(exchange) { body in
            (body.optionalText("mvpd"), ["user", "household", "device", "code"].map { ($0, body.optionalText($0)) })
        }
        let given = ids.filter { !$0.1.isEmpty }
        guard let (kind, value) = given.first, given.count == 1 else {
            throw AdministrationError.invalid([FieldProblem(field: "user", message: "give one of user, household, device and code")])
        }
        for (field, text) in [(kind, value), ("mvpd", mvpd)] where !text.isEmpty && !ViewerKind.isGood(text) {
            throw AdministrationError.invalid([FieldProblem(field: field, message: "must have 1 to \(longest) octets without controls")])
        }
        let person: PersonSelector.Person =
            switch kind {
            case "user": .userID(value)
            case "household": .householdID(value)
            case "device": .deviceID(value)
            default: .code(value)
            }
        return PersonSelector(mvpd: mvpd, person: person)
    }

    static func people(_ people: [PersonIdentity]) -> Document.Value {
        .list(
            people.map { person in
                .object([
                    .init("mvpd", .text(person.mvpd)), .init("user", .optional(person.upstreamUserID)),
                    .init("sessions", .number(UInt64(person.sessions))),
                ])
            }, item: "person")
    }

    private static func remainders(_ remainders: [PersonRemainder]) -> Document.Value {
        .list(
            remainders.map { remainder in
                .object([
                    .init("name", .text(remainder.name)), .init("rows", .number(UInt64(remainder.rows))),
                    .init("reason", .text(remainder.reason)), .init("end", .text(remainder.end)),
                ])
            }, item: "remainder")
    }
}
