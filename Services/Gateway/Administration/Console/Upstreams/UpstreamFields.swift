/// The properties of an upstream that have fields (bridge §3.1); its clients, which are records of their own, are reached as JSON.
enum UpstreamFields {
    static let groups = [
        FormGroup(
            title: "Where it is",
            fields: [
                FormField("baseUrl", "Origin of its API", .text, hint: "https, without a path; plain HTTP to this machine alone."),
                FormField("userAgentBaseUrl", "Origin for browsers", .text, hint: "Empty: the same."),
                FormField("browserHosts", "Further hosts for browsers", .lines, hint: "One in each line, exactly these."),
                FormField(
                    "kind", "What it is",
                    .choice([("", "as usual (a vendor's service)"), ("vendor", "a vendor's service"), ("boxoffice", "another cluster")])),
            ]),
        FormGroup(
            title: "How it is spoken to",
            fields: [
                FormField(
                    "clientScope", "Our clients there",
                    .choice([("", "as usual (one for each device)"), ("device", "one for each device"), ("shared", "shared by devices")]),
                    hint: "Shared ones need the vendor's consent. A change counts for new logins."),
                FormField("shards", "Shared clients", .number, hint: "1 to 4096; empty: 64."),
                FormField(
                    "deviceIdForm", "Form of device ids",
                    .choice([("", "as usual (as apps send them)"), ("plain", "as apps send them"), ("sha256", "SHA-256")]),
                    hint: "A change orphans each session and each trial there."),
                FormField(
                    "userIdSource", "Ids of people", .choice([("", "as usual (ours)"), ("hmac", "ours"), ("attribute", "the upstream's attribute")])),
                FormField("fillDeviceInfo", "Fills in what a device does not say", .toggle(usually: true)),
                FormField(
                    "synthesizePartnerStatus", "Says that Apple's framework has permission", .toggle(usually: false),
                    hint: "Only with the vendor's consent."),
                FormField("clientCertificate", "Client certificate", .text, hint: "Its name in the settings of the authentication service."),
                FormField("protocol", "HTTP version", .choice([("", "as usual (HTTP/1.1)"), ("http1", "HTTP/1.1"), ("http2", "HTTP/2")])),
            ]),
        FormGroup(
            title: "How long answers hold, in seconds",
            fields: [
                number("seconds.list", "A list", "120 to 300; empty: 120."),
                number("seconds.listStale", "A list that cannot be read anew", "Empty: a week."),
                number("seconds.profileFresh", "A profile", "10 to 3600; empty: 300."),
                number("seconds.profileStale", "A profile that cannot be read anew", "Empty: a day."),
                number("seconds.negative", "Nobody is signed in", "Empty: 600."),
                number("seconds.poll", "Between two looks for a login", "3 to 30; empty: 5."),
                number("seconds.holdMediaToken", "A media token waits for the app", "0 to 300; empty: 60."),
                number("seconds.decisionFresh", "A decision", "0 to 300; empty: 60."),
                number("seconds.connectionAge", "A connection takes calls", "10 to 300; empty: 60."),
            ]),
        FormGroup(
            title: "How long it may take, in milliseconds",
            fields: [
                number("timeoutsMs.connect", "To connect", "10 to 60000; empty: 1000."), number("timeoutsMs.list", "A list", "Empty: 3000."),
                number("timeoutsMs.session", "A session", "Empty: 3000."),
                number("timeoutsMs.decision", "A decision", "Below the last; empty: 8000."),
                number("timeoutsMs.total", "All calls that an app waits for", "Empty: 9000."),
            ]),
        FormGroup(
            title: "How much each of our copies asks",
            fields: [
                number("limits.connections", "Connections", "1 to 1024; empty: 64."),
                number("limits.inFlight", "Calls at once", "1 to 4096; empty: 256."),
                number("limits.perSecond", "Calls a second", "1 to 100000; empty: 500."),
                number("limits.devicePerSecond", "Calls a second for one address", "1 to 1000; empty: 1."),
                number("limits.deviceBurst", "Calls at once for one address", "1 to 1000; empty: 8."),
                number("limits.answerBytes", "Octets of an answer", "Empty: 262144."),
                number("limits.listBytes", "Octets of a list", "Empty: 2097152."),
            ]),
    ]

    private static func number(_ name: String, _ label: String, _ hint: String) -> FormField { FormField(name, label, .number, hint: hint) }
}
