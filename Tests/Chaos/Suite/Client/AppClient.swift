/// A registered client application.
struct AppClient: Sendable, Hashable {
    let id: String
    let secret: String

    init(id: String, secret: String) { (self.id, self.secret) = (id, secret) }

    /// As an answer to the registration tells it.
    init?(_ answer: Answer?) {
        guard let object = answer?.object, let id = object["client_id"] as? String, let secret = object["client_secret"] as? String else {
            return nil
        }
        self.init(id: id, secret: secret)
    }
}
