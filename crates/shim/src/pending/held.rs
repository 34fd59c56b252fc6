//! Held requests: of the client, waiting for something before they can be let through to a server.
//!
//! Their ids are in use and their answers owed like those of any other; but no server knows of them, so that one that is
//! cancelled is simply gone.

use callgate_protocol::id::IdKey;

use super::{Generation, Intake, NotEntered, Pending, PendingRequest, RequestKind, Table, Ticket};
use crate::wording::Expects;

impl Pending {
    /// From here on the request has one answer to come, by whoever holds the ticket.
    pub(crate) fn hold(&self, id: IdKey, expects: Expects) -> Result<Ticket, NotEntered> {
        let mut table = self.table();
        table.used = true;
        table.has_room(&id)?;
        table.tickets += 1;
        let ticket = table.tickets;
        table.held.insert(id, (ticket, PendingRequest::new(RequestKind::Held(expects))));
        self.tell(table);
        Ok(ticket)
    }

    /// Is an answer to it still owed, by whoever has this ticket?
    pub(crate) fn is_held(&self, id: &IdKey, ticket: Ticket) -> bool {
        self.table().is_held(id, ticket)
    }

    /// Is it over with all requests?
    pub(crate) fn is_closed(&self) -> bool {
        matches!(self.table().intake, Intake::Closed(_))
    }

    /// May it be let through to this server now?
    pub(crate) fn check_held(
        &self,
        id: &IdKey,
        ticket: Ticket,
        generation: Generation,
    ) -> Result<(), NotEntered> {
        self.table().check_held(id, ticket, generation)
    }

    /// Enters it for this server, and posts it there in the same step: whoever cancels it either finds it held, or has it
    /// in the server's pipe before the cancellation. One that is not entered stays held.
    pub(crate) fn enter_held<T>(
        &self,
        id: &IdKey,
        ticket: Ticket,
        request: PendingRequest,
        generation: Generation,
        post: impl FnOnce() -> T,
    ) -> Result<T, NotEntered> {
        let mut table = self.table();
        table.check_held(id, ticket, generation)?;
        table.held.remove(id);
        table.let_through = true;
        table.entered += u64::from(request.what.is_use());
        table.waiting.insert(id.clone(), request);
        let posted = post();
        self.tell(table);
        Ok(posted)
    }

    /// It gets an answer that is no server's. False if it has had one, or wants none any more.
    pub(crate) fn release(&self, id: &IdKey, ticket: Ticket) -> bool {
        let mut table = self.table();
        let held = table.is_held(id, ticket);
        if held {
            table.held.remove(id);
        }
        self.tell(table);
        held
    }
}

impl Table {
    fn is_held(&self, id: &IdKey, ticket: Ticket) -> bool {
        self.held.get(id).is_some_and(|(held, _)| *held == ticket)
    }

    fn check_held(&self, id: &IdKey, ticket: Ticket, generation: Generation) -> Result<(), NotEntered> {
        match &self.intake {
            _ if self.is_held(id, ticket) => self.is_open(generation),
            // Then it has its answer.
            Intake::Closed(reason) => Err(NotEntered::Closed(reason.clone())),
            _ => Err(NotEntered::GivenUp),
        }
    }
}
